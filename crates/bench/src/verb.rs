//! What can be measured, and how it is asked for.

use crate::error::Error;
use crate::{board, fan_out, kanban, log_stream, map, run_files, server, speckit};
use serde_json::Value;
use std::path::PathBuf;

/// The usage of the program, shown when the arguments are wrong.
const USAGE: &str = "regatta-bench w1|w3start|w3resume DIR TASKS | w2|w2-durable|w4 DIR COUNT | \
                     w5 DIR COUNT append1|c16|batch100|batch1000 | w5-replay DIR | map DIR ITEMS flat|chain | \
                     board DIR TASKS | server DIR TASKS | files DIR GROUPS";

/// More than any machine plays in a day; it only catches a mistyped number.
const COUNT_MAX: usize = 10_000_000;

/// One measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verb {
    /// A speckit run of so many tasks, from its order to its end.
    Speckit { folder: PathBuf, tasks: usize },
    /// The same, meant to be killed.
    SpeckitStart { folder: PathBuf, tasks: usize },
    /// What was killed, to its end.
    SpeckitResume { folder: PathBuf, tasks: usize },
    /// The task machine in memory.
    Kanban { count: usize },
    /// The task machine with every transition on the disk.
    KanbanDurable { folder: PathBuf, count: usize },
    /// Many short runs at once.
    FanOut { folder: PathBuf, count: usize },
    /// Events appended to the log.
    Append { folder: PathBuf, count: usize, options: log_stream::Options },
    /// Those events read again.
    Replay { folder: PathBuf },
    /// Many tasks, listed and left alone.
    Board { folder: PathBuf, tasks: usize },
    /// `regatta up` under many clients and readers.
    Server { folder: PathBuf, tasks: usize },
    /// One run with many children, with files and without.
    RunFiles { folder: PathBuf, groups: usize },
    /// One run with many children.
    Map { folder: PathBuf, items: usize, shape: map::Shape },
}

/// Parses the words after the program's name.
pub(crate) fn parse(words: &[String]) -> Result<Verb, Error> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let folder = |text: &str| PathBuf::from(text);
    Ok(match words[..] {
        ["w1", dir, tasks] => Verb::Speckit { folder: folder(dir), tasks: count(tasks)? },
        ["w3start", dir, tasks] => Verb::SpeckitStart { folder: folder(dir), tasks: count(tasks)? },
        ["w3resume", dir, tasks] => Verb::SpeckitResume { folder: folder(dir), tasks: count(tasks)? },
        ["w2", _, machines] => Verb::Kanban { count: count(machines)? },
        ["w2-durable", dir, machines] => Verb::KanbanDurable { folder: folder(dir), count: count(machines)? },
        ["w4", dir, runs] => Verb::FanOut { folder: folder(dir), count: count(runs)? },
        ["w5", dir, events, options] => {
            let options = log_stream::Options::find(options).ok_or(Error::Usage { usage: USAGE })?;
            Verb::Append { folder: folder(dir), count: count(events)?, options }
        }
        ["board", dir, tasks] => Verb::Board { folder: folder(dir), tasks: count(tasks)? },
        ["server", dir, tasks] => Verb::Server { folder: folder(dir), tasks: count(tasks)? },
        ["files", dir, groups] => Verb::RunFiles { folder: folder(dir), groups: count(groups)? },
        ["w5-replay", dir] => Verb::Replay { folder: folder(dir) },
        ["map", dir, items, shape] => {
            let shape = map::Shape::find(shape).ok_or(Error::Usage { usage: USAGE })?;
            Verb::Map { folder: folder(dir), items: count(items)?, shape }
        }
        _ => return Err(Error::Usage { usage: USAGE }),
    })
}

fn count(text: &str) -> Result<usize, Error> {
    let parsed = text.parse().ok().filter(|count| (1..=COUNT_MAX).contains(count));
    parsed.ok_or_else(|| Error::Count { text: text.to_owned(), max: COUNT_MAX })
}

impl Verb {
    /// Plays the workload and returns what was measured.
    pub(crate) fn perform(self) -> Result<Value, Error> {
        match self {
            Verb::Speckit { folder, tasks } => speckit::measure(&folder, tasks),
            Verb::SpeckitStart { folder, tasks } => speckit::start(&folder, tasks),
            Verb::SpeckitResume { folder, tasks } => speckit::resume(&folder, tasks),
            Verb::Kanban { count } => kanban::measure_in_memory(count),
            Verb::KanbanDurable { folder, count } => kanban::measure_durable(&folder, count),
            Verb::FanOut { folder, count } => fan_out::measure(&folder, count),
            Verb::Append { folder, count, options } => log_stream::measure(&folder, count, options),
            Verb::Board { folder, tasks } => board::measure(&folder, tasks),
            Verb::Server { folder, tasks } => server::measure(&folder, tasks),
            Verb::RunFiles { folder, groups } => run_files::measure(&folder, groups),
            Verb::Replay { folder } => log_stream::replay(&folder),
            Verb::Map { folder, items, shape } => map::measure(&folder, items, shape),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Verb, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words).map_err(|error| error.to_string())
    }

    #[test]
    fn every_call_of_the_table_is_understood() {
        let folder = PathBuf::from("d");
        assert_eq!(parsed("w1 d 100"), Ok(Verb::Speckit { folder: folder.clone(), tasks: 100 }));
        assert_eq!(parsed("w2 d 10"), Ok(Verb::Kanban { count: 10 }));
        assert_eq!(parsed("w5-replay d"), Ok(Verb::Replay { folder: folder.clone() }));
        for line in [
            "w2-durable d 1",
            "w3start d 1",
            "w3resume d 1",
            "w4 d 1",
            "map d 1 flat",
            "map d 1 chain",
            "board d 1",
            "server d 1",
            "files d 1",
        ] {
            assert!(parsed(line).is_ok(), "{line}");
        }
        for options in ["append1", "c16", "batch100", "batch1000"] {
            assert!(parsed(&format!("w5 d 1 {options}")).is_ok(), "{options}");
        }
    }

    #[test]
    fn anything_else_is_told_how_to_call() {
        for line in ["", "w1", "w1 d", "w6 d 1", "w5 d 1 batch7", "w5-replay d 1", "map d 1 round"] {
            assert!(parsed(line).is_err_and(|said| said.contains("regatta-bench w1")), "{line}");
        }
        for line in ["w1 d 0", "w1 d many", "w1 d 10000001"] {
            assert!(parsed(line).is_err_and(|said| said.contains("number from 1")), "{line}");
        }
    }
}
