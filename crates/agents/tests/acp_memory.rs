//! Memory stays bounded whatever an agent says over ACP. Alone in its file, because it measures the whole process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use regatta_agents::{Outcome, Program};
use support::{Place, peak_memory_bytes, within, words};

const GROWTH_BYTES_MAX: u64 = 50_000_000;

/// Answers before it is asked, and then talks without end: a line that has none, one of many values, words, calls, and what is no JSON.
const SCRIPT: &str = r#"
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'
echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}'
head -c 100000000 /dev/zero | tr '\0' x
echo
printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"t","rawInput":[0'
yes ,0 | head -n 1900000 | tr -d '\n'
echo ']}}}'
words='{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"many words many words"}}}}'
call='{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"t","rawInput":{"a":[1,2,3]},"content":[{"type":"new"}]}}}'
yes "$words
$call
not JSON" | head -c 40000000
echo
echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'
"#;

#[tokio::test]
async fn a_flood_over_acp_is_heard_and_not_kept() {
    let place = Place::new();
    let mut start = place.start(Program::Acp(words(&["sh", "-c", SCRIPT])));
    start.limits.transcript_bytes_max = 1_000_000;
    let before = peak_memory_bytes();
    let mut session = regatta_agents::start(start).await.unwrap();
    while within(session.next()).await.is_some() {}
    let ended = within(session.wait()).await;
    assert_eq!(ended.outcome, Outcome::Finished);
    assert!(ended.output_bytes > 140_000_000, "{} bytes", ended.output_bytes);
    let growth = peak_memory_bytes() - before;
    assert!(growth < GROWTH_BYTES_MAX, "memory grew by {growth} bytes");
}
