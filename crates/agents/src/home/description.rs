//! What one agent keeps in a home folder, as data: the file of each agent holds its own description.
//!
//! Whatever is not described here does not exist in the home of a session, and never comes back from it.

use std::path::Path;

/// The description of one agent's part of a home folder. Paths are below the home.
#[derive(Debug, Clone, Copy)]
pub struct Home {
    /// Variables that move a part of the home somewhere else, and the part; an empty one is the whole home.
    pub(crate) moved_by: &'static [(&'static str, &'static str)],
    /// The files that are copied into the home of a session.
    pub(crate) files: &'static [Given],
    /// What a later session needs in order to resume this one; `*` in a name stands for any characters.
    pub(crate) kept: &'static [&'static str],
    /// Variables of the session that name a part of its home; an empty part is the home itself.
    pub(crate) places: &'static [(&'static str, &'static str)],
    /// Variables of the session with their values.
    pub(crate) variables: &'static [(&'static str, &'static str)],
    /// Whether a session gets a home of its own even without a sandbox, because the agent takes what it must be given from
    /// nowhere else.
    pub(crate) is_always_private: bool,
    /// How to get a login that does not rotate, for advice.
    pub(crate) long_lived: &'static str,
}

impl Home {
    /// Returns the variables of the agent, given where its home is seen.
    pub(crate) fn environment(&self, seen_at: &Path) -> Vec<(String, String)> {
        let place = |(name, path): &(&str, &str)| {
            let place = if path.is_empty() { seen_at.to_owned() } else { seen_at.join(path) };
            ((*name).to_owned(), place.display().to_string())
        };
        let variable = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        self.places.iter().map(place).chain(self.variables.iter().map(variable)).collect()
    }
}

/// A file that is copied into the home of a session, as far as it is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given {
    /// Where it is in the home of the session.
    pub(crate) path: &'static str,
    /// Where it is in the user's home, if that is elsewhere unless a variable moves it.
    pub(crate) source: Option<&'static str>,
    /// How it is read.
    pub(crate) format: Format,
    /// The fields that are copied, such as `security/auth` or `env/ANTHROPIC_*`; of [`Format::Text`] everything is.
    pub(crate) fields: &'static [&'static str],
    /// What stands in it where the user has no such file.
    pub(crate) otherwise: Option<&'static str>,
    /// What is added at its end.
    pub(crate) added: &'static str,
    /// What comes back, if it is a login that rotates.
    pub(crate) rotation: Option<Rotation>,
}

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON, with comments and trailing commas or without.
    Json,
    Toml,
    /// Lines of `NAME=value`.
    Variables,
    /// The scalars at the top of a YAML file, one per line.
    Yaml,
    /// Any text, such as standing instructions.
    Text,
}

/// A login that an agent renews by itself. Its refresh token may work only once, so the renewed one must come back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rotation {
    /// The object that holds one login: empty for the whole file, `*` for each field of it.
    pub(crate) record: &'static str,
    /// The fields of a record that come back.
    pub(crate) fields: &'static [&'static str],
    /// The field that says which of two is newer: a number, or a time as text.
    pub(crate) stamp: &'static str,
    /// Fields that must be the same on both sides, so that one account does not replace another.
    pub(crate) same: &'static [&'static str],
}

impl Given {
    /// Returns settings that are copied in.
    pub(crate) const fn settings(
        path: &'static str,
        format: Format,
        fields: &'static [&'static str],
    ) -> Given {
        Given { path, source: None, format, fields, otherwise: None, added: "", rotation: None }
    }

    /// Returns a text that is copied in whole.
    pub(crate) const fn text(path: &'static str) -> Given {
        Given::settings(path, Format::Text, &[])
    }
}
