# An agent of the project larder, over the Agent Client Protocol. What it does follows from the task, or from the role that it plays.
say() { printf '%s\n' "$1"; }
update() { say "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":$1}}"; }
text() { update "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"$1\"}}"; }
begin() { update "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"$1\",\"title\":\"$3\",\"kind\":\"$2\",\"status\":\"in_progress\",\"rawInput\":{\"command\":\"$3\"},\"locations\":[{\"path\":\"$PWD/src/freshness.rs\"}]}"; }
finish() { update "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"$1\",\"status\":\"completed\",\"content\":[{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":\"$2\"}}]}"; }
edited() { update "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"$1\",\"title\":\"Edit $2\",\"kind\":\"edit\",\"status\":\"completed\",\"rawInput\":{\"file_path\":\"$PWD/$2\"},\"content\":[{\"type\":\"diff\",\"path\":\"$PWD/$2\",\"oldText\":\"$3\",\"newText\":\"$4\"}],\"locations\":[{\"path\":\"$PWD/$2\"}]}"; }
paid() { update "{\"sessionUpdate\":\"usage_update\",\"used\":52000,\"size\":200000,\"cost\":{\"amount\":$1,\"currency\":\"USD\"}}"; }
end() {
  text "$1"
  say '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","usage":{"totalTokens":148000,"inputTokens":139000,"outputTokens":9000}}}'
  cat > /dev/null
  exit 0
}
wait_for_go() { while [ -d "$HOME" ] && [ ! -e "$HOME/go" ]; do sleep 0.1; done; }

read -r initialize
say '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}'
read -r new_session
say '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}'
read -r prompt
mkdir -p src

case "$REGATTA_ROLE" in
  spec)
    paid 0.21
    end '{\"tasks\":[{\"id\":\"T001\",\"title\":\"Answer range requests from a stored body\",\"description\":\"Serve 206 with the right Content-Range.\",\"priority\":1,\"complexity\":\"medium\",\"acceptanceCriteria\":[\"One range is answered with 206\",\"A range that cannot be met gives 416\"],\"status\":\"pending\"},{\"id\":\"T002\",\"title\":\"Reload the config on SIGHUP\",\"description\":\"Without a dropped connection.\",\"priority\":3,\"complexity\":\"simple\",\"acceptanceCriteria\":[\"Open connections stay\"],\"status\":\"pending\"}],\"summary\":{\"totalTasks\":2,\"byPriority\":{\"1\":1,\"3\":1},\"estimatedComplexity\":\"hours\"}}'
    ;;
  coder)
    paid 0.57
    printf 'pub fn ranges(header: &str) -> Vec<Range> {\n    Vec::new()\n}\n' > src/range.rs
    end '{\"code\":\"src/range.rs\",\"taskId\":\"T001\",\"status\":\"blocked\",\"selfValidation\":{\"passed\":false,\"issues\":[\"Should several ranges be answered as multipart, or only the first one?\"]}}'
    ;;
esac

case "$REGATTA_TASK_ID" in
  1) paid 0.48; printf '/// Names the keys that are asked for most.\npub fn hot_keys(store: &Store) -> Vec<Key> {\n    store.keys().take(10).collect()\n}\n' > src/admin.rs ;;
  2) paid 0.71; printf '# Larder\n\nMetadata is kept beside the body, in one file for each.\n' > NOTES.md ;;
  4) paid 0.92; printf '# Larder\n\nVary names the request headers that a response depends on.\n' > NOTES.md ;;
  5)
    paid 0.84
    text 'The lock is per key, so two keys never wait for each other. First I look at how a miss is answered today.'
    begin r1 read 'Read src/freshness.rs'; finish r1 '11 lines'
    edited e1 src/flight.rs '' 'pub struct Flight {\n    waiting: Vec<Sender>,\n}\n'
    begin x1 execute '`cargo test -p larder-store`'
    wait_for_go ;;
  6) paid 0.66; text 'zstd is linked statically.'; begin x1 execute '`cargo build`'; printf 'half\n' > src/zstd.rs; echo 'error: linking with `cc` failed: cannot find -lzstd' >&2; exit 1 ;;
  10)
    paid 0.31
    text 'The guide says that the port is read once. I want to see what a running server does.'
    say '{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"call","kind":"execute","title":"curl -s localhost:9000/admin/keys","rawInput":{"command":"curl -s localhost:9000/admin/keys"}},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}'
    read -r answer ;;
  9) paid 0.39; printf '# Freshness\n\nTODO: an example\n' > FRESHNESS.md ;;
  *)
    paid 1.12
    text 'A response is fresh from the time it was stored. So the time goes along as a parameter, and the clock is read once.'
    begin r1 read 'Read src/freshness.rs'; finish r1 '11 lines'
    begin x1 execute '`cargo test -p larder`'; finish x1 '214 passed'
    if [ "$REGATTA_SESSION_NUMBER" = 1 ]; then
      printf '/// How long a response stays fresh.\npub fn lifetime(headers: &Headers, stored_at: Time) -> Option<Duration> {\n    let cc = CacheControl::parse(headers);\n    cc.max_age.or_else(|| expires_in(headers, stored_at))\n}\n\nfn expires_in(headers: &Headers, now: Time) -> Option<Duration> {\n    let date = header_date(headers, DATE).unwrap_or(now);\n    Some(Duration::from_secs((header_date(headers, EXPIRES)? - date) as u64))\n}\n' > src/freshness.rs
    else
      printf '/// How long a response stays fresh, counted from the time it was stored.\npub fn lifetime(headers: &Headers, stored_at: Time) -> Option<Duration> {\n    let cc = CacheControl::parse(headers);\n    cc.s_maxage.or(cc.max_age).or_else(|| expires_in(headers, stored_at))\n}\n\n// A date in the future is a wrong clock, not a longer life.\nfn expires_in(headers: &Headers, stored_at: Time) -> Option<Duration> {\n    let date = header_date(headers, DATE).unwrap_or(stored_at).min(stored_at);\n    Some(header_date(headers, EXPIRES)?.saturating_since(date))\n}\n' > src/freshness.rs
      answers=',\"answers\":[{\"comment\":1,\"text\":\"Taken: a Date after the time of storing counts as the time of storing. freshness_tests has the case.\"}]'
      printf 'use crate::freshness::lifetime;\n\n#[test]\nfn a_date_in_the_future_is_a_wrong_clock() {\n    let headers = headers(&[(DATE, "tomorrow"), (EXPIRES, "tomorrow")]);\n    assert_eq!(lifetime(&headers, TODAY), Some(DAY));\n}\n' > src/freshness_tests.rs
    fi ;;
esac
end '{\"summary\":\"Freshness is computed when a response is stored. The tests of the store pass.\"'"$answers"'}'
