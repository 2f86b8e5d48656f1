//! Takes out what says where and when a fixture was recorded: folders, the port, and ids that differ each time.

use std::collections::HashMap;
use std::path::Path;

/// The groups of an UUID, in hexadecimal digits.
const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

/// Replaces what must not stay; ids keep their identity within one scrubber.
#[derive(Debug, Default)]
pub(crate) struct Scrubber {
    words: Vec<(String, &'static str)>,
    ids: HashMap<String, String>,
}

impl Scrubber {
    /// Replaces a folder from now on, also where a program made one word of its path.
    pub(crate) fn hide_folder(&mut self, folder: &Path, instead: &'static str) {
        let path = folder.to_string_lossy().into_owned();
        let slug = path.replace(['/', '.'], "-");
        self.words.insert(0, (path, instead));
        self.words.push((slug, instead.trim_start_matches('/')));
    }

    /// Replaces a word from now on.
    pub(crate) fn hide(&mut self, word: &str, instead: &'static str) {
        self.words.push((word.to_owned(), instead));
    }

    /// Returns the text without what must not stay.
    pub(crate) fn clean(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for (word, instead) in &self.words {
            text = text.replace(word, instead);
        }
        self.number_ids(&text)
    }

    fn number_ids(&mut self, text: &str) -> String {
        let mut cleaned = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            if let Some(id) = uuid_at(rest) {
                let number = self.ids.len() + 1;
                let stand_in = || format!("00000000-0000-4000-8000-{number:012}");
                cleaned.push_str(self.ids.entry(id.to_owned()).or_insert_with(stand_in));
                rest = &rest[id.len()..];
            } else {
                cleaned.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
        cleaned
    }
}

fn uuid_at(text: &str) -> Option<&str> {
    let mut end = 0;
    for (index, digits) in GROUPS.iter().enumerate() {
        if index > 0 {
            end += usize::from(text.get(end..)?.starts_with('-').then_some(true)?);
        }
        let group = text.get(end..end + digits)?;
        group.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
        end += digits;
    }
    text.get(..end)
}
