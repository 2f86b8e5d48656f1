//! Edits of documents, merged: what one side changed alone is there, and what both changed is named.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::patch::apply;

fn place() -> ResolvedPath {
    serde_json::from_value(json!(["plan"])).unwrap()
}

/// Merges, and returns the state afterwards with the conflicts.
fn merged(base: &Value, edited: &Value, now: &Value) -> (Value, Vec<String>) {
    let sides = Sides { base: Some(base), edited: Some(edited), now: Some(now) };
    let Merged { patches, conflicts } = merge_place(&place(), sides, Some("text"));
    let mut state = json!({ "plan": now });
    apply(&mut state, &patches, &Value::Null).unwrap();
    (state["plan"].clone(), conflicts.iter().map(ToString::to_string).collect())
}

fn check(base: Value, edited: Value, now: Value, expected: Value, conflicts: &[&str]) {
    let (found, told) = merged(&base, &edited, &now);
    assert_eq!((&found, &told), (&expected, &conflicts.iter().map(|path| (*path).to_owned()).collect()));
}

#[test]
fn fields_are_merged_one_by_one() {
    let base = json!({ "a": 1, "b": { "c": 2, "d": 3 } });
    check(base.clone(), base.clone(), json!({ "a": 7 }), json!({ "a": 7 }), &[]);
    let edited = json!({ "a": 9, "b": { "c": 2, "d": 3 } });
    check(
        base.clone(),
        edited.clone(),
        json!({ "a": 1, "b": { "c": 5, "d": 3 } }),
        json!({ "a": 9, "b": { "c": 5, "d": 3 } }),
        &[],
    );
    check(base.clone(), edited.clone(), edited.clone(), edited.clone(), &[]);
    let both = json!({ "a": 8, "b": { "c": 2 } });
    check(base.clone(), edited, both.clone(), both, &["plan.a"]);
    // Removed here and changed there, added on both sides.
    check(
        base.clone(),
        json!({ "b": { "c": 2, "d": 3 }, "e": 1, "f": { "x": 1 } }),
        json!({ "a": 2, "b": { "c": 2, "d": 3 }, "e": 2, "f": { "y": 2 } }),
        json!({ "a": 2, "b": { "c": 2, "d": 3 }, "e": 2, "f": { "y": 2, "x": 1 } }),
        &["plan.a", "plan.e"],
    );
    check(base.clone(), json!({ "a": 1 }), base.clone(), json!({ "a": 1 }), &[]);
    check(base.clone(), json!([1]), json!("now"), json!("now"), &["plan"]);
    check(base, json!([1]), json!({ "a": 1, "b": { "c": 2, "d": 3 } }), json!([1]), &[]);
}

#[test]
fn items_are_merged_by_their_ids() {
    let base = json!([{ "id": 1, "t": "a" }, { "id": 2, "t": "b" }, { "id": 3, "t": "c" }]);
    // Changed, removed, added and moved on one side, with a change on the other.
    check(
        base.clone(),
        json!([{ "id": 1, "t": "A" }, { "id": 3, "t": "c" }, { "id": 4, "t": "d" }]),
        json!([{ "id": 1, "t": "a", "done": true }, { "id": 2, "t": "b" }, { "id": 3, "t": "c" }, { "id": 5, "t": "e" }]),
        json!([
            { "id": 1, "t": "A", "done": true },
            { "id": 3, "t": "c" },
            { "id": 5, "t": "e" },
            { "id": 4, "t": "d" },
        ]),
        &[],
    );
    check(
        base.clone(),
        json!([{ "id": 3, "t": "c" }, { "id": 1, "t": "a" }, { "id": 2, "t": "b" }]),
        json!([{ "id": 1, "t": "a" }, { "id": 2, "t": "x" }, { "id": 3, "t": "c" }]),
        json!([{ "id": 3, "t": "c" }, { "id": 1, "t": "a" }, { "id": 2, "t": "x" }]),
        &[],
    );
    // Removed here and changed there; the number 2 is not the text "2".
    check(
        base.clone(),
        json!([{ "id": 1, "t": "a" }, { "id": 3, "t": "c" }]),
        json!([{ "id": 1, "t": "a" }, { "id": 2, "t": "x" }, { "id": 3, "t": "c" }, { "id": "2" }]),
        json!([{ "id": 1, "t": "a" }, { "id": 2, "t": "x" }, { "id": 3, "t": "c" }, { "id": "2" }]),
        &["plan[1]"],
    );
    check(
        base.clone(),
        json!([{ "id": 3, "t": "c" }, { "id": 1, "t": "a" }, { "id": 2, "t": "b" }]),
        json!([{ "id": 2, "t": "b" }, { "id": 1, "t": "a" }, { "id": 3, "t": "c" }]),
        json!([{ "id": 2, "t": "b" }, { "id": 1, "t": "a" }, { "id": 3, "t": "c" }]),
        &["plan"],
    );
    // Other lists are one value.
    check(json!([1, 2]), json!([1, 2, 3]), json!([1]), json!([1]), &["plan"]);
    check(
        json!([{ "id": 1 }]),
        json!([{ "id": 1 }, { "id": 1 }]),
        json!([{ "id": 1, "x": 1 }]),
        json!([{ "id": 1, "x": 1 }]),
        &["plan"],
    );
}

#[test]
fn a_body_is_merged_by_line() {
    let with = |text: &str| json!({ "text": text, "other": "x\ny" });
    check(
        with("a\nb\nc\nd\n"),
        with("A\nb\nc\nd\n"),
        with("a\nb\nc\nD\nnew\n"),
        with("A\nb\nc\nD\nnew\n"),
        &[],
    );
    check(with("a\nb\nc"), with("a\nb\nc\n"), with("x\nb\nc"), with("x\nb\nc\n"), &[]);
    check(with("a\nb\n"), with("a\nB\n"), with("a\nbb\n"), with("a\nbb\n"), &["plan.text"]);
    // Another text is one value.
    check(
        json!({ "other": "x\ny\nz" }),
        json!({ "other": "X\ny\nz" }),
        json!({ "other": "x\ny\nZ" }),
        json!({ "other": "x\ny\nZ" }),
        &["plan.other"],
    );
}

#[test]
fn a_patch_is_as_small_as_it_can_be() {
    let told = |now: Value, edited: Value| {
        let sides = Sides { base: Some(&now), edited: Some(&edited), now: Some(&now) };
        serde_json::to_string(&merge_place(&place(), sides, None).patches).unwrap()
    };
    let now = json!({ "a": [{ "id": 1, "t": "a" }], "b": [1, 2], "c": 1 });
    assert_eq!(told(now.clone(), now.clone()), "[]");
    assert_eq!(
        told(
            now.clone(),
            json!({ "a": [{ "id": 1, "t": "x" }, { "id": 2 }], "b": [1, 2, 3], "c": 1, "d": 4 })
        ),
        r#"[[["plan","a",0,"t"],"x"],[["plan","a",1],{"id":2}],[["plan","b",2],3],[["plan","d"],4]]"#
    );
    assert_eq!(
        told(now.clone(), json!({ "a": [], "b": [1, 2], "c": 2 })),
        r#"[[["plan","a"],[]],[["plan","c"],2]]"#
    );
    assert_eq!(
        told(now, json!({ "a": [{ "id": 1, "t": "a" }], "b": [2] })),
        r#"[[["plan"],{"a":[{"id":1,"t":"a"}],"b":[2]}]]"#
    );
}

#[test]
fn a_list_that_only_grows_takes_new_items_alone() {
    let told = |base: Value, edited: Value, now: Value| {
        let sides = Sides { base: Some(&base), edited: Some(&edited), now: Some(&now) };
        merge_list(&place(), sides).map(|patches| serde_json::to_string(&patches).unwrap())
    };
    let added = Some(r#"[[["plan",3],{"n":9}]]"#.to_owned());
    assert_eq!(told(json!([1]), json!([1, { "n": 9 }]), json!([1, 2, 3])), added);
    assert_eq!(told(json!([1]), json!([1]), json!([1, 2, 3])), Some("[]".to_owned()));
    assert_eq!(told(Value::Null, json!([5]), Value::Null), Some(r#"[[["plan"],[5]]]"#.to_owned()));
    assert_eq!(told(json!([1, 2]), json!([1]), json!([1, 2])), None, "a line was removed");
    assert_eq!(told(json!([1, 2]), json!([1, 3]), json!([1, 2])), None, "a line was changed");
    assert_eq!(told(json!([1, 2]), json!([0, 1, 2]), json!([1, 2])), None, "a line was added above");
}

/// Any document: objects, lists of objects with ids, other lists, scalars and the body.
fn document() -> impl Strategy<Value = Value> {
    let scalar =
        prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), (0..4).prop_map(Value::from)];
    let items = proptest::collection::btree_map(0..5, scalar.clone(), 0..4).prop_map(|items| {
        items.into_iter().map(|(id, value)| json!({ "id": id, "v": value })).collect::<Value>()
    });
    let text = proptest::collection::vec(0..4, 0..6)
        .prop_map(|lines| lines.iter().map(|line| format!("{line}\n")).collect::<String>())
        .prop_map(Value::from);
    let list = proptest::collection::vec(scalar.clone(), 0..3).prop_map(Value::from);
    (scalar, items, list, text, any::<Option<u8>>()).prop_map(|(scalar, items, list, text, extra)| {
        let mut document = json!({ "s": scalar, "items": items, "list": list, "text": text });
        if let Some(extra) = extra {
            document["extra"] = json!({ "n": extra % 4, "m": 1 });
        }
        document
    })
}

proptest! {
    #[test]
    fn no_edit_is_no_patch(base in document(), now in document()) {
        let sides = Sides { base: Some(&base), edited: Some(&base), now: Some(&now) };
        prop_assert_eq!(merge_place(&place(), sides, Some("text")), Merged::default());
    }

    #[test]
    fn an_edit_of_what_is_still_there_is_taken_as_it_is(base in document(), edited in document()) {
        prop_assert_eq!(merged(&base, &edited, &base), (edited.clone(), Vec::new()));
        // To take it again changes nothing.
        let sides = Sides { base: Some(&base), edited: Some(&edited), now: Some(&edited) };
        prop_assert_eq!(merge_place(&place(), sides, Some("text")), Merged::default());
    }

    /// Without a conflict it does not matter whose changes are called the edit, but for the order of what both added.
    #[test]
    fn edits_without_a_conflict_commute(base in document(), one in document(), other in document()) {
        let (first, told) = merged(&base, &one, &other);
        let (second, told_again) = merged(&base, &other, &one);
        prop_assert_eq!(told.is_empty(), told_again.is_empty());
        if told.is_empty() {
            prop_assert_eq!(sorted(first), sorted(second));
        }
    }

    /// What only one side changed is in the result, whatever else is a conflict.
    #[test]
    fn what_one_side_changed_is_kept(base in document(), one in document(), other in document()) {
        let (found, _) = merged(&base, &one, &other);
        for name in ["s", "list", "items", "text", "extra"] {
            if base.get(name) == other.get(name) {
                prop_assert_eq!(found.get(name), one.get(name), "{}", name);
            } else if base.get(name) == one.get(name) {
                prop_assert_eq!(found.get(name), other.get(name), "{}", name);
            }
        }
        let ids = |value: &Value| -> Vec<u64> {
            value["items"].as_array().unwrap().iter().map(|item| item["id"].as_u64().unwrap()).collect()
        };
        let added = ids(&one).into_iter().filter(|id| !ids(&base).contains(id));
        for id in added {
            prop_assert!(ids(&found).contains(&id), "item {} was added by one side", id);
        }
        prop_assert!(ids(&found).len() == ids(&found).iter().collect::<std::collections::BTreeSet<_>>().len());
    }

    /// Lines that only one side has changed, with a line between that neither did, are all in the merged text.
    #[test]
    fn changes_of_other_lines_are_all_kept(count in 3_usize..12, first in 0_usize..12, second in 0_usize..12) {
        prop_assume!(first < count && second < count && first.abs_diff(second) > 1);
        let text = |changed: &[(usize, &str)]| -> Value {
            let line = |number: usize| match changed.iter().find(|(at, _)| *at == number) {
                Some((_, line)) => format!("{line}\n"),
                None => format!("line {number}\n"),
            };
            json!({ "text": (0..count).map(line).collect::<String>() })
        };
        let (found, conflicts) = merged(&text(&[]), &text(&[(first, "theirs")]), &text(&[(second, "ours")]));
        prop_assert_eq!(found, text(&[(first, "theirs"), (second, "ours")]));
        prop_assert!(conflicts.is_empty());
    }
}

/// Two items or lines that were added at the same place are in either order.
fn sorted(mut document: Value) -> Value {
    if let Some(items) = document["items"].as_array_mut() {
        items.sort_by_key(|item| item["id"].as_u64());
    }
    document
}
