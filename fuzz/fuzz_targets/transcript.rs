//! Any line of a transcript is read without harm, and no text of an item holds a control character.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regatta_agents::TimedItem;

fuzz_target!(|line: &[u8]| {
    if let Some(timed) = TimedItem::parse(line) {
        let value = serde_json::to_value(&timed).expect("an item is plain data");
        assert!(is_safe(&value), "{timed:?}");
    }
});

fn is_safe(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::String(text) => {
            text.chars().all(|character| matches!(character, '\n' | '\t') || !character.is_control())
        }
        serde_json::Value::Array(values) => values.iter().all(is_safe),
        serde_json::Value::Object(fields) => fields.values().all(is_safe),
        _ => true,
    }
}
