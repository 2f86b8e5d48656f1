//! What each person has viewed of each task's diff, kept beside the log and not in it: it is nobody else's business.
//!
//! One file per person and task, replaced as a whole, so that a crash leaves the old or the new one:
//!
//! ```text
//! <git common dir>/regatta/server/viewed/<person>/task-<id>.json
//! ```

use crate::error::Error;
use regatta_board::diff::{MARKS_MAX, Mark};
use regatta_engine::core::{Actor, TaskId};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A larger file was not written by us.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// All lines that the marks of a task remember; the oldest marks give way.
const LINES_MAX: usize = 400_000;

/// The marks of all people.
#[derive(Debug)]
pub(crate) struct Viewed {
    folder: PathBuf,
    /// Held while a file is read, changed and written.
    writing: Mutex<()>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    #[serde(default)]
    marks: Vec<Mark>,
}

impl Viewed {
    /// Keeps marks in a folder, which need not exist yet.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Viewed { folder, writing: Mutex::new(()) }
    }

    /// Returns the marks of a person on a task, the oldest first; a file that cannot be read counts as none.
    pub(crate) fn load(&self, person: &Actor, task: TaskId) -> Vec<Mark> {
        let path = self.path(person, task);
        let is_ours = fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= FILE_BYTES_MAX);
        let text = if is_ours { fs::read(&path).unwrap_or_default() } else { Vec::new() };
        serde_json::from_slice::<Kept>(&text).unwrap_or_default().marks
    }

    /// Adds marks, and removes others; returns all.
    pub(crate) fn change(
        &self,
        person: &Actor,
        task: TaskId,
        add: Vec<Mark>,
        remove: impl Fn(&Mark) -> bool,
    ) -> Result<Vec<Mark>, Error> {
        let _writing = self.writing.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut marks = self.load(person, task);
        let is_again = |mark: &Mark| add.iter().any(|new| new.path == mark.path && new.hunk == mark.hunk);
        marks.retain(|mark| !remove(mark) && !is_again(mark));
        marks.extend(add);
        let mut lines = 0;
        let is_kept = |mark: &&Mark| {
            lines += mark.lines.len();
            lines <= LINES_MAX
        };
        let count = marks.iter().rev().take(MARKS_MAX).take_while(is_kept).count();
        marks.drain(..marks.len() - count);
        self.write(&self.path(person, task), &Kept { marks: marks.clone() })?;
        Ok(marks)
    }

    fn write(&self, path: &Path, kept: &Kept) -> Result<(), Error> {
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(Error::io("write", path))?;
        serde_json::to_writer(&mut file, kept).map_err(|error| Error::io("write", path)(error.into()))?;
        file.flush().map_err(Error::io("write", path))?;
        file.persist(path).map_err(|error| Error::io("write", path)(error.error))?;
        Ok(())
    }

    /// A name can hold anything, so the folder is named for its hash.
    fn path(&self, person: &Actor, task: TaskId) -> PathBuf {
        let digest = crate::keys::digest_of(&person.to_string());
        self.folder.join(&digest[..16]).join(format!("task-{task}.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regatta_board::diff::{HunkId, Patch};

    fn marks(line: &str) -> Vec<Mark> {
        let file = Patch::parse(&format!("diff --git a/x b/x\n@@ -1 +1,2 @@\n a\n+{line}\n")).files.remove(0);
        HunkId::of_file(&file).iter().filter_map(|id| Mark::of(&file, id)).collect()
    }

    #[test]
    fn marks_are_kept_per_person_and_task() {
        let folder = tempfile::tempdir().unwrap();
        let viewed = Viewed::new(folder.path().join("viewed"));
        let (one, two) = (Actor::User("one".into()), Actor::User("../two".into()));
        let task = |number| TaskId::new(number).unwrap();
        let never = |_: &Mark| false;
        viewed.change(&one, task(1), marks("a"), never).unwrap();
        viewed.change(&one, task(1), marks("b"), never).unwrap();
        viewed.change(&one, task(1), marks("a"), never).unwrap();
        viewed.change(&two, task(1), marks("c"), never).unwrap();
        assert_eq!(viewed.load(&one, task(1)), [marks("b"), marks("a")].concat());
        assert_eq!(viewed.load(&two, task(1)), marks("c"));
        assert_eq!(viewed.load(&one, task(2)), []);
        let gone = marks("b");
        let left = viewed.change(&one, task(1), Vec::new(), |mark| *mark == gone[0]).unwrap();
        assert_eq!((left, viewed.load(&one, task(1))), (marks("a"), marks("a")));
    }

    #[test]
    fn a_file_that_is_not_ours_counts_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let viewed = Viewed::new(folder.path().to_owned());
        let (one, task) = (Actor::User("one".into()), TaskId::new(1).unwrap());
        viewed.change(&one, task, marks("a"), |_| false).unwrap();
        std::fs::write(viewed.path(&one, task), b"{\"marks\": [{}]").unwrap();
        assert_eq!(viewed.load(&one, task), []);
        assert_eq!(viewed.change(&one, task, marks("b"), |_| false).unwrap(), marks("b"));
    }

    #[test]
    fn the_oldest_give_way() {
        let folder = tempfile::tempdir().unwrap();
        let viewed = Viewed::new(folder.path().to_owned());
        let (one, task) = (Actor::User("one".into()), TaskId::new(1).unwrap());
        let many: Vec<Mark> = (0..MARKS_MAX + 10)
            .map(|number| Mark { path: number.to_string(), ..marks("a").remove(0) })
            .collect();
        let kept = viewed.change(&one, task, many, |_| false).unwrap();
        assert_eq!((kept.len(), kept[0].path.as_str()), (MARKS_MAX, "10"));
        let long = Mark { lines: vec![0; LINES_MAX], ..marks("long").remove(0) };
        let kept = viewed.change(&one, task, vec![long.clone()], |_| false).unwrap();
        assert_eq!(kept, [long]);
    }
}
