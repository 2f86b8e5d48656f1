//! Every recorded stream, read by its adapter, with what is expected beside it: `<case>.jsonl` and `<case>.expected`.
//!
//! `UPDATE_EXPECT=1` writes the expected files again.

use std::fmt::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use expect_test::expect_file;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::conclude::conclude;
use super::reader::Reader;
use crate::agent_output::AgentOutput;
use crate::judge::judge;
use crate::kind::HeadlessKind;
use crate::limits::Limits;
use crate::outcome::Outcome;
use crate::output::Output;
use crate::process::{Cause, Stream, Watched};
use crate::testing::start_for;
use crate::usage::Usage;

/// Pieces of this size cut events in the middle.
const PIECE_BYTES: usize = 777;

fn streams() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/streams")
}

/// Returns the recorded cases of an agent, by name.
fn cases(kind: HeadlessKind) -> Vec<PathBuf> {
    let folder = streams().join(kind.name());
    let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
    let mut cases: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    cases.sort();
    cases
}

fn check(kind: HeadlessKind) {
    let cases = cases(kind);
    assert!(!cases.is_empty(), "there are no recorded streams of {kind:?}");
    for case in cases {
        // What was recorded as `resume` continues the session of `edit`.
        let is_resumed = case.file_stem().is_some_and(|stem| stem == "resume");
        let resumed = is_resumed.then(|| play(kind, &case.with_file_name("edit.jsonl"), None).1);
        let (shown, _) = play(kind, &case, resumed);
        expect_file![case.with_extension("expected")].assert_eq(&shown);
    }
}

fn play(kind: HeadlessKind, case: &Path, resumed: Option<Usage>) -> (String, Usage) {
    let meta: Value =
        serde_json::from_slice(&std::fs::read(case.with_extension("meta.json")).unwrap()).unwrap();
    let now: Timestamp = "2026-11-15T16:00:00Z".parse().unwrap();
    let output =
        AgentOutput::new(Path::new("/project"), &Limits::default(), resumed, now.to_zoned(TimeZone::UTC));
    let mut adapter = kind.adapter();
    adapter.plan(&start_for(Path::new("/project")), &["agent".to_owned()]);
    let mut reader = Reader::new(adapter, output);
    let mut outputs = Vec::new();
    for piece in std::fs::read(case).unwrap().chunks(PIECE_BYTES) {
        outputs.extend(reader.push(Stream::Out, piece, now));
    }
    let lines: Vec<&str> =
        meta["stderr"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let tail = lines.join("\n");
    outputs.extend(reader.push(Stream::Error, tail.as_bytes(), now));
    outputs.extend(reader.finish());
    let watched = watched(&meta);
    let output = reader.into_output();
    let outcome = conclude(judge(&watched, &Limits::default()), None, &output, &tail, now);
    render(&outputs, &outcome, output)
}

/// Returns how the program ended; one that took too long was killed by who recorded it.
fn watched(meta: &Value) -> Watched {
    let exit = meta["exitCode"].as_i64().and_then(|code| i32::try_from(code).ok());
    let status = ExitStatus::from_raw(exit.map_or(9, |code| code << 8));
    let cause = if meta["timedOut"] == true { Cause::Timeout } else { Cause::Exited };
    Watched { cause, status: Some(status), still_alive: None }
}

fn render(outputs: &[Output], outcome: &Outcome, output: AgentOutput) -> (String, Usage) {
    let mut shown = String::new();
    for piece in outputs {
        writeln!(shown, "{piece:?}").unwrap();
    }
    writeln!(shown, "---\n{outcome}").unwrap();
    if let Outcome::Failed(failure) = outcome
        && let Some(until) = failure.until
    {
        writeln!(shown, "until {until}").unwrap();
    }
    let mut totals = output.into_totals();
    writeln!(shown, "session {:?}, turns {:?}", totals.session, totals.turns).unwrap();
    writeln!(shown, "{:?}", totals.usage).unwrap();
    writeln!(shown, "last message {:?}", String::from_utf8_lossy(totals.message.read().0)).unwrap();
    (shown, totals.usage)
}

#[test]
fn every_recorded_stream_reads_as_expected() {
    HeadlessKind::all().for_each(check);
}

#[test]
fn every_folder_of_streams_is_of_an_agent() {
    for entry in std::fs::read_dir(streams()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_known = name.starts_with("acp-") || name == "README.md" || HeadlessKind::find(&name).is_some();
        assert!(is_known, "`{name}` is the folder of no agent");
    }
}
