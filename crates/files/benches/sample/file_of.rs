//! A task file of a given size, as the benchmarks read it: sessions with lists, links and a fence.

/// Returns a task file of about this many bytes.
pub(crate) fn file_of(bytes: usize) -> String {
    let mut text = String::from(
        "# Task #1: A\n\n## 0. Metadata\n```json\n{\n  \"task_id\": 1,\n  \"total_sessions\": 0\n}\n```\n\n## 1. Context\n\n\
         ### Requirements\nWhat is wanted.\n\n### Acceptance Criteria\n- [ ] one\n- [x] two\n\n## 3. Progress Log\n\n",
    );
    let lines =
        "- changed `src/module.rs` so that **both** callers agree, see [the notes](https://example.org)\n"
            .repeat(20);
    for number in 1.. {
        if text.len() >= bytes {
            break;
        }
        let session = format!(
            "### Session {number} - 2024-11-26 10:00\n**Did:**\n{lines}\n```rust\n## not a heading\n```\n\n**Issues:** None\n\n**Next:** more\n\n"
        );
        text.push_str(&session);
    }
    text.push_str("## 4. Chain Output\n\n(To be completed)\n");
    text
}
