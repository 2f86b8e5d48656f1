//! `regatta skill`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::GREEN;
use clap::Args;
use regatta_engine::core::{Code, Problem};
use serde_json::json;
use std::io;
use std::path::{Path, PathBuf};

/// The skill as it is written.
const SKILL: &str = include_str!("skill.md");

/// What shows that a file was written by this verb.
const MARK: &str = "<!-- Written by `regatta skill`;";

/// The name that agents look for.
const FILE: &str = "SKILL.md";

/// Write a SKILL.md that teaches your own agent to use the board
///
/// Without PATH it is printed. A folder gets a SKILL.md, such as `.claude/skills/regatta`. A file that `regatta skill` did not
/// write is never replaced without --force.
#[derive(Args)]
pub(crate) struct Skill {
    /// File or folder to write
    path: Option<PathBuf>,
    /// Replace a file that `regatta skill` did not write
    #[arg(long, requires = "path")]
    force: bool,
}

impl Skill {
    pub(crate) fn run(self, place: &Place) -> Result<Exit, Problem> {
        let Some(path) = &self.path else {
            if place.screen.is_json() {
                place.screen.data(&json!({ "skill": SKILL }), |_| String::new());
            } else {
                place.screen.verbatim(SKILL);
            }
            return Ok(Exit::Done);
        };
        place.folder()?;
        let path = file_of(&place.resolve(path));
        write(&path, self.force)?;
        let shown = path.display().to_string();
        place.screen.data(&json!({ "path": shown }), |_| format!("{GREEN}wrote{GREEN:#} {shown}\n"));
        Ok(Exit::Done)
    }
}

/// A path that names no Markdown file is a folder.
fn file_of(path: &Path) -> PathBuf {
    let is_file = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
    if is_file { path.to_owned() } else { path.join(FILE) }
}

fn write(path: &Path, force: bool) -> Result<(), Problem> {
    match std::fs::read(path) {
        Ok(found) if !force && !String::from_utf8_lossy(&found).contains(MARK) => {
            return Err(Problem::new(
                Code::ValidationError,
                format!("{} was not written", path.display()),
                "it exists, and `regatta skill` did not write it",
                "choose another path, or replace it with `--force`",
            ));
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(path, &error)),
        _ => {}
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, SKILL));
    written.map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &io::Error) -> Problem {
    let what = format!("{} was not written", path.display());
    Problem::new(Code::IoFailed, what, error.to_string(), "choose another path, or check its permissions")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::CommandFactory;

    #[test]
    fn every_command_of_the_skill_exists() {
        let commands: Vec<&str> =
            SKILL.split('`').filter_map(|quoted| quoted.strip_prefix("regatta ")).collect();
        assert!(commands.len() > 10, "{commands:?}");
        for line in commands {
            let mut words = vec!["regatta".to_owned()];
            words.extend(shlex::split(line).unwrap());
            let parsed = Arguments::command().try_get_matches_from(&words);
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
    }

    #[test]
    fn a_file_of_others_is_replaced_only_on_demand() {
        let folder = tempfile::tempdir().unwrap();
        let path = file_of(&folder.path().join("skills/regatta"));
        assert!(path.ends_with("skills/regatta/SKILL.md"));
        write(&path, false).unwrap();
        std::fs::write(&path, format!("old\n{MARK} x -->\n")).unwrap();
        write(&path, false).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), SKILL);
        std::fs::write(&path, "my own\n").unwrap();
        let refused = write(&path, false).unwrap_err();
        assert_eq!(refused.code, Code::ValidationError);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "my own\n");
        write(&path, true).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), SKILL);
    }
}
