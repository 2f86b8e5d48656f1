//! Removes from a git folder what makes git run something and was not there before.
//!
//! Config keys that are known to run nothing stay, no matter who wrote them; every other key stays only with
//! the value that it had. So an agent can clone, branch and set up a remote, and a key that a new git adds is
//! not trusted until it is listed here.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::note::{FILES, FOLDERS, copy, list_files};
use crate::command::Git;
use crate::error::Error;
use crate::folder;
use crate::location::Location;
use crate::stand_in::read_plain;

/// Keys that run nothing; `*` is any subsection.
const HARMLESS: [&str; 50] = [
    "core.abbrev",
    "core.autocrlf",
    "core.bare",
    "core.checkstat",
    "core.compression",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.precomposeunicode",
    "core.quotepath",
    "core.repositoryformatversion",
    "core.safecrlf",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.symlinks",
    "core.trustctime",
    "core.untrackedcache",
    "extensions.objectformat",
    "extensions.partialclone",
    "extensions.refstorage",
    "user.name",
    "user.email",
    "init.defaultbranch",
    "gc.auto",
    "pull.ff",
    "pull.rebase",
    "push.default",
    "push.autosetupremote",
    "fetch.prune",
    "remote.*.url",
    "remote.*.pushurl",
    "remote.*.fetch",
    "remote.*.push",
    "remote.*.mirror",
    "remote.*.promisor",
    "remote.*.partialclonefilter",
    "remote.*.prune",
    "remote.*.tagopt",
    "branch.*.description",
    "branch.*.merge",
    "branch.*.pushremote",
    "branch.*.rebase",
    "branch.*.remote",
    "submodule.active",
    "submodule.*.active",
    "submodule.*.branch",
    "submodule.*.ignore",
    "submodule.*.url",
    "lfs.repositoryformatversion",
];

/// Files of `info` that name no program.
const HARMLESS_INFO: [&str; 3] = ["exclude", "sparse-checkout", "refs"];

/// Larger ones are no configs.
const CONFIG_BYTES_MAX: usize = 1024 * 1024;

type Pair = (String, String);

/// Cleans one git folder, given the copy of what it had, and returns what was removed: a file, and the keys of it.
pub(super) async fn clean(
    git_folder: &Path,
    before: Option<&Path>,
    location: &Location,
) -> Result<Vec<(String, String)>, Error> {
    let mut removed = Vec::new();
    for name in FILES {
        let keys = match name {
            "config" => clean_config(git_folder, before, location).await?,
            _ => restore_file(&git_folder.join(name), before.map(|before| before.join(name)).as_deref())?
                .then(Vec::new),
        };
        if let Some(keys) = keys {
            let keys = if keys.is_empty() { String::new() } else { format!(" ({})", keys.join(", ")) };
            removed.push((name.to_owned(), keys));
        }
    }
    for name in FOLDERS {
        let before = before.map(|before| before.join(name));
        let names = clean_folder(&git_folder.join(name), before.as_deref(), name == "info")?;
        removed.extend(names.into_iter().map(|file| (format!("{name}/{file}"), String::new())));
    }
    Ok(removed)
}

/// Returns the keys that were taken out; nothing when there were none.
async fn clean_config(
    git_folder: &Path,
    before: Option<&Path>,
    location: &Location,
) -> Result<Option<Vec<String>>, Error> {
    let config = git_folder.join("config");
    if config.symlink_metadata().is_err() {
        return Ok(None);
    }
    let known = match before {
        Some(before) => read(&before.join("config")).await?.unwrap_or_default(),
        None => Vec::new(),
    };
    let now = read(&config).await?;
    let is_readable = now.is_some();
    let is_kept = |pair: &Pair| known.contains(pair) || is_harmless(pair, git_folder, location);
    let (kept, planted): (Vec<Pair>, Vec<Pair>) = now.unwrap_or(known.clone()).into_iter().partition(is_kept);
    if is_readable && planted.is_empty() {
        return Ok(None);
    }
    folder::remove(&config)?;
    std::fs::write(&config, render(&kept)).map_err(Error::io("write", &config))?;
    let mut keys: Vec<String> = planted.into_iter().map(|(key, _)| key).collect();
    keys.dedup();
    Ok(Some(keys))
}

/// Reads a config without what it includes; nothing when it is not a file that git reads.
async fn read(config: &Path) -> Result<Option<Vec<Pair>>, Error> {
    let Some(content) = read_plain(config).filter(|content| content.len() <= CONFIG_BYTES_MAX) else {
        return Ok(None);
    };
    if content.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let git = Git::anywhere().args(["config", "--file"]).arg(config);
    let finished = git.args(["--no-includes", "--null", "--list"]).run().await?;
    if finished.code != Some(0) {
        return Ok(None);
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let entries = finished.stdout.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    let parse = |entry: &[u8]| match entry.iter().position(|byte| *byte == b'\n') {
        Some(end) => (text(&entry[..end]), text(&entry[end + 1..])),
        None => (text(entry), "true".to_owned()),
    };
    Ok(Some(entries.map(parse).collect()))
}

fn is_harmless((key, value): &Pair, git_folder: &Path, location: &Location) -> bool {
    let Some((section, subsection, name)) = split(key) else { return false };
    let general =
        if subsection.is_some() { format!("{section}.*.{name}") } else { format!("{section}.{name}") };
    match general.as_str() {
        "core.worktree" => super::is_below(&git_folder.join(value), &location.path),
        "submodule.*.update" => matches!(value.as_str(), "checkout" | "merge" | "rebase" | "none"),
        // `ext::` and the like name programs.
        _ if value.contains("::") => false,
        _ => HARMLESS.contains(&general.as_str()),
    }
}

/// Splits a key as git lists it: section and name have no dots.
fn split(key: &str) -> Option<(&str, Option<&str>, &str)> {
    let (section, rest) = key.split_once('.')?;
    match rest.rsplit_once('.') {
        Some((subsection, name)) => Some((section, Some(subsection), name)),
        None => Some((section, None, rest)),
    }
}

fn render(pairs: &[Pair]) -> String {
    let mut text = String::new();
    for (key, value) in pairs {
        let Some((section, subsection, name)) = split(key) else { continue };
        let escape = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let subsection = subsection.map(|name| format!(" \"{}\"", escape(name))).unwrap_or_default();
        let value = escape(value).replace('\n', "\\n").replace('\t', "\\t");
        text.push_str(&format!("[{section}{subsection}]\n\t{name} = \"{value}\"\n"));
    }
    text
}

/// Puts a file back as it was, or removes it; tells whether it had changed.
fn restore_file(path: &Path, before: Option<&Path>) -> Result<bool, Error> {
    let before = before.filter(|before| before.exists());
    let is_there = path.symlink_metadata().is_ok();
    let is_same = match before {
        Some(before) => {
            let now = read_plain(path);
            now.is_some() && now == read_plain(before) && is_executable(path) == is_executable(before)
        }
        None => !is_there,
    };
    if is_same {
        return Ok(false);
    }
    folder::remove(path)?;
    if let Some(before) = before {
        copy(before, path)?;
    }
    Ok(true)
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

/// Puts the files of a folder back as they were, and returns the names of those that had changed.
fn clean_folder(path: &Path, before: Option<&Path>, is_info: bool) -> Result<Vec<String>, Error> {
    let found = path.symlink_metadata();
    if found.as_ref().is_ok_and(|found| !found.is_dir()) {
        folder::remove(path)?;
    }
    let mut names = list_files(path);
    names.extend(before.map(list_files).unwrap_or_default());
    names.sort();
    names.dedup();
    let mut changed = Vec::new();
    for name in names {
        let shown = name.to_string_lossy().into_owned();
        // A sample is what git puts into every new folder, and is not run under that name.
        let is_harmless =
            if is_info { HARMLESS_INFO.contains(&shown.as_str()) } else { shown.ends_with(".sample") };
        if is_harmless {
            continue;
        }
        let before = before.map(|before| before.join(&name)).filter(|before| before.exists());
        if before.is_some() {
            std::fs::create_dir_all(path).map_err(Error::io("create", path))?;
        }
        if restore_file(&path.join(&name), before.as_deref())? {
            changed.push(shown);
        }
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::Overrides;

    #[test]
    fn only_known_keys_are_harmless() {
        let disk = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(disk.path().join("w/sub/.git")).unwrap();
        let location = Location {
            git_dir: disk.path().join("git"),
            path: disk.path().join("w"),
            overrides: Overrides::default(),
        };
        let folder = disk.path().join("w/sub/.git");
        let check =
            |key: &str, value: &str| is_harmless(&(key.to_owned(), value.to_owned()), &folder, &location);
        for (key, value) in [
            ("core.bare", "false"),
            ("remote.origin.url", "https://example.com/a.git"),
            ("branch.a.b.merge", "refs/heads/a.b"),
            ("core.worktree", "../"),
            ("submodule.x.update", "rebase"),
        ] {
            assert!(check(key, value), "{key}");
        }
        for (key, value) in [
            ("core.fsmonitor", "evil"),
            ("core.hookspath", "/x"),
            ("include.path", "x"),
            ("includeif.gitdir:x.path", "x"),
            ("filter.x.clean", "x"),
            ("alias.x", "!x"),
            ("remote.origin.url", "ext::sh -c x"),
            ("remote.origin.uploadpack", "x"),
            ("core.worktree", "/"),
            ("submodule.x.update", "!x"),
            ("nonsense", ""),
        ] {
            assert!(!check(key, value), "{key}");
        }
    }

    #[test]
    fn a_config_is_written_as_git_reads_it() {
        let pairs = [
            ("core.bare".to_owned(), "false".to_owned()),
            ("branch.a \"b\\.c.description".to_owned(), "two\nlines\t\"and\" \\ ; # more".to_owned()),
        ];
        let expected = "[core]\n\tbare = \"false\"\n[branch \"a \\\"b\\\\.c\"]\n\tdescription = \
                        \"two\\nlines\\t\\\"and\\\" \\\\ ; # more\"\n";
        assert_eq!(render(&pairs), expected);
    }
}
