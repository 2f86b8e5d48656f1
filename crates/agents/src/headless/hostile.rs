//! Streams that no agent should print: whatever comes does no harm.

use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::reader::Reader;
use crate::agent_output::AgentOutput;
use crate::kind::HeadlessKind;
use crate::limits::Limits;
use crate::output::Output;
use crate::process::Stream;
use crate::testing::headless;

fn reader(kind: HeadlessKind) -> Reader {
    let now = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
    Reader::new(kind.adapter(), AgentOutput::new(Path::new("/project"), &Limits::default(), None, now))
}

fn read(kind: HeadlessKind, bytes: &[u8]) -> Vec<Output> {
    let mut reader = reader(kind);
    let mut outputs = Vec::new();
    for piece in bytes.chunks(64 * 1024) {
        outputs.extend(reader.push(Stream::Out, piece, Timestamp::UNIX_EPOCH));
        outputs.extend(reader.push(Stream::Error, piece, Timestamp::UNIX_EPOCH));
    }
    outputs.extend(reader.finish());
    outputs
}

#[test]
fn what_is_not_an_event_is_text() {
    for kind in HeadlessKind::all() {
        let lines = "plain \u{1b}[31mred\u{1b}[0m\n42\n\"text\"\n[1]\n{\"broken\":\n";
        let text = |line: &str| Output::Text(format!("{line}\n"));
        assert_eq!(read(kind, lines.as_bytes()), lines.lines().map(text).collect::<Vec<_>>());
        assert_eq!(read(kind, b"\xff\xfe\n"), [text("\u{fffd}\u{fffd}")]);
        assert_eq!(read(kind, b"\n  \r\n"), []);
    }
}

#[test]
fn unknown_events_and_wrong_types_are_passed_over() {
    let types = [
        "init",
        "message",
        "system",
        "assistant",
        "user",
        "result",
        "error",
        "complete",
        "text",
        "tool_use",
        "tool_result",
        "step_start",
        "step_finish",
        "turn.completed",
        "turn.failed",
        "item.started",
        "item.completed",
        "thread.started",
        "rate_limit_event",
        "something.new",
    ];
    for kind in HeadlessKind::all() {
        for name in types {
            for rest in
                ["", ",\"message\":7,\"part\":[],\"item\":null", ",\"message\":{\"content\":[1,null,{}]}"]
            {
                read(kind, format!("{{\"type\":\"{name}\"{rest}}}\n").as_bytes());
            }
        }
        assert_eq!(read(kind, b"{\"type\":\"something.new\"}\n{}\n{\"type\":7}\n"), []);
    }
}

#[test]
fn json_that_is_too_deep_is_text() {
    let deep = "{\"type\":".repeat(100_000);
    for kind in HeadlessKind::all() {
        let outputs = read(kind, deep.as_bytes());
        assert!(outputs.iter().all(|output| matches!(output, Output::Text(_))));
        let length: usize = outputs.iter().map(Output::length).sum();
        assert_eq!(length, deep.len() + 1);
    }
}

#[test]
fn an_endless_line_is_skipped_and_the_next_is_read() {
    let mut reader = reader(headless("claude"));
    let piece = vec![b'x'; 64 * 1024];
    for _ in 0..4 * 1024 {
        assert_eq!(reader.push(Stream::Out, &piece, Timestamp::UNIX_EPOCH), []);
    }
    let outputs = reader.push(Stream::Out, b"\nshort\n", Timestamp::UNIX_EPOCH);
    assert_eq!(outputs, [Output::Skipped { bytes: 256 * 1024 * 1024 }, Output::Text("short\n".to_owned())]);
}

#[test]
fn many_messages_leave_the_end_of_the_last_one() {
    let mut reader = reader(headless("gemini"));
    let text = "y".repeat(10_000);
    let event =
        format!("{{\"type\":\"message\",\"role\":\"assistant\",\"delta\":true,\"content\":\"{text}\"}}\n");
    for _ in 0..1000 {
        assert_eq!(reader.push(Stream::Out, event.as_bytes(), Timestamp::UNIX_EPOCH).len(), 1);
    }
    let mut totals = reader.into_output().into_totals();
    let (end, is_whole) = totals.message.read();
    assert_eq!((end.len(), is_whole), (Limits::default().result_bytes_max, false));
}

#[test]
fn numbers_beyond_all_bounds_are_taken_as_they_can_be() {
    let event = r#"{"type":"result","num_turns":18446744073709551615,"total_cost_usd":1e300,
        "usage":{"input_tokens":18446744073709551615,"cache_read_input_tokens":18446744073709551615}}"#;
    let outputs = read(headless("claude"), event.replace('\n', "").as_bytes());
    assert!(matches!(outputs[0], Output::Used(usage) if usage.tokens() == u64::MAX), "{outputs:?}");
}
