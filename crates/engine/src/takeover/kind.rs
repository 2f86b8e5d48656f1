//! Whose files a folder holds.

use crate::core::{Code, Problem, find_nearest};
use crate::error::Error;
use serde::{Serialize, Serializer};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Whose files they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Task files: `.specflux`.
    SpecFlux,
    /// Cycles with requirements, plan, changes and test results: `.workflow/.cycle`.
    Cycle,
    /// A team's state files and messages: `coordination`.
    Coordination,
    /// GitHub Spec Kit: `specs/NNN-name`.
    SpecKit,
    /// A table with a task per line.
    Csv,
    /// A JSON object per line, each a task.
    JsonLines,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 6] =
        [Kind::SpecFlux, Kind::Cycle, Kind::Coordination, Kind::SpecKit, Kind::Csv, Kind::JsonLines];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::SpecFlux => "specflux",
            Kind::Cycle => "cycle",
            Kind::Coordination => "coordination",
            Kind::SpecKit => "spec-kit",
            Kind::Csv => "csv",
            Kind::JsonLines => "jsonl",
        }
    }

    /// Returns where its files are, in the folder that somebody named.
    fn find(self, folder: &Path) -> Option<PathBuf> {
        let any = |places: &[&str], holds: fn(&Path) -> bool| {
            places.iter().map(|place| folder.join(place)).find(|place| holds(place))
        };
        match self {
            Kind::SpecFlux => any(&["", ".specflux"], |place| {
                has_file(place, is_task_file) || has_file(&place.join("task-states"), is_task_file)
            }),
            Kind::Cycle => any(&["", ".cycle", ".workflow/.cycle"], |place| {
                has_folder(place, |name| name.ends_with(".progress")) || has_file(place, is_cycle_file)
            }),
            Kind::Coordination => any(&["", "coordination"], |place| has_file(place, is_coordination_file)),
            Kind::SpecKit => any(&["", "specs"], |place| {
                is_file(&place.join("tasks.md")) || has_folder_with(place, "tasks.md")
            }),
            Kind::Csv | Kind::JsonLines => None,
        }
    }

    fn of_file(path: &Path) -> Option<Kind> {
        match path.extension()?.to_str()?.to_lowercase().as_str() {
            "csv" => Some(Kind::Csv),
            "jsonl" | "ndjson" => Some(Kind::JsonLines),
            _ => None,
        }
    }
}

/// Finds out whose files these are, and where they are.
pub(crate) fn recognize(path: &Path, kind: Option<Kind>) -> Result<(Kind, PathBuf), Error> {
    let path = &path.canonicalize().map_err(Error::io("read", path))?;
    if is_file(path) {
        return match kind.or_else(|| Kind::of_file(path)) {
            Some(kind @ (Kind::Csv | Kind::JsonLines)) => Ok((kind, path.clone())),
            _ => Err(unknown(path, "a file is imported if it is a table (csv) or lines of JSON (jsonl)")),
        };
    }
    let found: Vec<(Kind, PathBuf)> = Kind::ALL
        .into_iter()
        .filter(|known| kind.is_none_or(|kind| kind == *known))
        .filter_map(|kind| Some((kind, kind.find(path)?)))
        .collect();
    match &found[..] {
        [one] => Ok(one.clone()),
        [] if kind.is_some_and(|kind| !matches!(kind, Kind::Csv | Kind::JsonLines)) => {
            Ok((kind.unwrap_or(Kind::SpecFlux), path.clone()))
        }
        [] => Err(unknown(path, &format!("{} in it", describe_none(kind)))),
        several => Err(ambiguous(path, several)),
    }
}

/// Tells whether a path is one that `import` takes over, rather than an export of Regatta.
pub fn is_foreign(path: &Path) -> bool {
    path.is_dir() || Kind::of_file(path).is_some()
}

fn describe_none(kind: Option<Kind>) -> String {
    match kind {
        Some(kind) => format!("there are no files of the kind `{kind}`"),
        None => {
            "there are no task files (task-*-state.md), no cycles (*.progress), no pm_state.json or group_status.json, \
             and no tasks.md"
                .to_owned()
        }
    }
}

fn unknown(path: &Path, why: &str) -> Error {
    let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    let next = format!("name the folder that holds them, and their kind with `--from`: {}", names.join(", "));
    Problem::new(Code::ImportUnknown, format!("{} was not imported", path.display()), why, next).into()
}

fn ambiguous(path: &Path, found: &[(Kind, PathBuf)]) -> Error {
    let why = found.iter().map(|(kind, place)| format!("{kind}: {}", place.display())).collect();
    let next = "import them one by one, with `--from KIND` or by naming the folder".to_owned();
    let mut problem = Problem::new(
        Code::ImportUnknown,
        format!("{} was not imported: it holds files of several kinds", path.display()),
        "",
        next,
    );
    problem.why = why;
    problem.into()
}

fn is_task_file(name: &str) -> bool {
    name.starts_with("task-") && name.ends_with("-state.md")
}

fn is_cycle_file(name: &str) -> bool {
    name.starts_with("cycle-") && name.ends_with(".json")
}

fn is_coordination_file(name: &str) -> bool {
    ["pm_state.json", "group_status.json", "orchestrator_state.json"].contains(&name)
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file())
}

fn has_file(folder: &Path, is_it: fn(&str) -> bool) -> bool {
    any_entry(folder, |kind, name| kind.is_file() && is_it(name))
}

fn has_folder(folder: &Path, is_it: fn(&str) -> bool) -> bool {
    any_entry(folder, |kind, name| kind.is_dir() && is_it(name))
}

fn has_folder_with(folder: &Path, file: &str) -> bool {
    // `001-photo-albums`: any folder may have a file of that name.
    let is_numbered = |name: &str| name.starts_with(|letter: char| letter.is_ascii_digit());
    any_entry(folder, |kind, name| {
        kind.is_dir() && is_numbered(name) && is_file(&folder.join(name).join(file))
    })
}

fn any_entry(folder: &Path, is_it: impl Fn(std::fs::FileType, &str) -> bool) -> bool {
    // No link is followed here either.
    if !folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return false;
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut named =
        entries.filter_map(|entry| Some((entry.file_type().ok()?, entry.file_name().into_string().ok()?)));
    named.any(|(kind, name)| is_it(kind, &name))
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.name() == text) {
            return Ok(kind);
        }
        let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        let nearest = find_nearest(text, names.iter().copied());
        let meant = nearest.map_or_else(String::new, |name| format!("did you mean `{name}`? "));
        Err(format!("{meant}the kinds are {}", names.join(", ")))
    }
}
