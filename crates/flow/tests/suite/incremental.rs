//! A change is judged like the whole state would be, whatever the schema says.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use regatta_flow::{Changed, Folder, PathStep, ResolvedPath, StateSchema, Workflow};
use serde_json::{Value, json};

use crate::folders::small;

/// How many schemas are tried; each with several changes.
const CASES: u32 = 400;

/// The cases are the same on every run: the other side of the comparison is not ours, and must not fail a run that
/// has nothing to do with it. Another seed tries others.
const SEED: u64 = 7;

/// Small values of all kinds; few enough that changes often fit, and often do not.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..4_i64).prop_map(Value::from),
        "[ab]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "d/e"]).prop_map(str::to_owned)
}

/// One keyword with its value, over smaller schemas.
fn keyword(schema: impl Strategy<Value = Value> + Clone + 'static) -> BoxedStrategy<(&'static str, Value)> {
    let one = schema.clone();
    let list = prop::collection::vec(schema.clone(), 1..3).prop_map(Value::from).boxed();
    let map = prop::collection::vec((name(), schema.clone()), 1..3)
        .prop_map(|fields| Value::Object(fields.into_iter().collect()))
        .boxed();
    let of =
        |word: &'static str, value: BoxedStrategy<Value>| value.prop_map(move |value| (word, value)).boxed();
    let number = |from: u64, to: u64| (from..to).prop_map(Value::from).boxed();
    prop::strategy::Union::new_weighted(vec![
        (6, of("properties", map)),
        (2, of("additionalProperties", one.clone().boxed())),
        (4, of("items", one.clone().boxed())),
        (2, of("prefixItems", list.clone())),
        (
            3,
            of(
                "$ref",
                prop::sample::select(vec!["#/$defs/x", "#/$defs/y", "#"]).prop_map(Value::from).boxed(),
            ),
        ),
        (
            2,
            of(
                "type",
                prop::sample::select(vec![
                    json!("object"),
                    json!("array"),
                    json!(["object", "integer", "null"]),
                ])
                .boxed(),
            ),
        ),
        (1, of("maxItems", number(0, 3))),
        (1, of("minItems", number(0, 2))),
        (1, of("maxProperties", number(1, 3))),
        (1, of("minimum", number(0, 3))),
        (1, of("maxLength", number(0, 2))),
        (1, of("enum", prop::collection::vec(value(), 1..3).prop_map(Value::from).boxed())),
        (1, of("const", value().boxed())),
        (1, of("required", prop::collection::vec(name(), 1..2).prop_map(Value::from).boxed())),
        (1, of("uniqueItems", Just(json!(true)).boxed())),
        (1, of("contains", one.clone().boxed())),
        (1, of("anyOf", list.clone())),
        (1, of("allOf", list.clone())),
        (1, of("oneOf", list)),
        (1, of("not", one.clone().boxed())),
        (1, of("if", one.clone().boxed())),
        (1, of("then", one.clone().boxed())),
        (1, of("patternProperties", one.clone().prop_map(|schema| json!({ "^a": schema })).boxed())),
        (1, of("propertyNames", Just(json!({ "maxLength": 1 })).boxed())),
        (1, of("dependentRequired", Just(json!({ "a": ["b"] })).boxed())),
        (1, of("unevaluatedProperties", one.boxed())),
    ])
    .boxed()
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![3 => Just(json!(true)), 1 => Just(json!(false)), 3 => Just(json!({ "type": ["integer", "string"] }))];
    leaf.prop_recursive(3, 24, 3, |inner| {
        prop::collection::vec(keyword(inner.boxed()), 1..4).prop_map(|words| {
            Value::Object(words.into_iter().map(|(word, value)| (word.to_owned(), value)).collect())
        })
    })
}

/// A change: where it goes is chosen along the state by numbers, because the state is not known yet.
fn change() -> impl Strategy<Value = (Vec<(usize, String)>, Value)> {
    (prop::collection::vec((0..4_usize, name()), 1..4), value())
}

/// Follows a change into a state: an item or the next one, a field or a new one.
fn place_in(state: &Value, choices: &[(usize, String)]) -> ResolvedPath {
    let mut steps = Vec::new();
    let mut value = Some(state);
    for (number, name) in choices {
        let step = match value {
            Some(Value::Object(_)) => PathStep::Key(name.as_str().into()),
            Some(Value::Array(items)) => PathStep::Index(number % (items.len() + 1)),
            _ => break,
        };
        steps.push(step);
        value = ResolvedPath(steps.clone()).find(state);
    }
    ResolvedPath(steps)
}

/// Takes away references that lead back to the same value, which JSON Schema forbids: what they mean is undefined.
fn without_loops(schema: &Value, is_allowed: &dyn Fn(&str) -> bool) -> Value {
    let Value::Object(words) = schema else { return schema.clone() };
    let kept = words.iter().filter(|(word, value)| *word != "$ref" || value.as_str().is_some_and(is_allowed));
    let judged = kept.map(|(word, value)| {
        let value = match (word.as_str(), value) {
            ("anyOf" | "allOf" | "oneOf", Value::Array(schemas)) => {
                schemas.iter().map(|schema| without_loops(schema, is_allowed)).collect()
            }
            ("not" | "if" | "then", schema) => without_loops(schema, is_allowed),
            _ => value.clone(),
        };
        (word.clone(), value)
    });
    Value::Object(judged.collect())
}

fn compile(root: &Value, x: &Value, y: &Value) -> Option<StateSchema> {
    let root = without_loops(root, &|name| name != "#");
    let [x, y] = [x, y].map(|schema| without_loops(schema, &|_| false));
    let mut document = root.as_object()?.clone();
    document.insert("type".to_owned(), json!("object"));
    document.insert("$defs".to_owned(), json!({ "x": x, "y": y }));
    document.insert("default".to_owned(), json!({}));
    let mut files = small();
    files.insert("state.schema.json".to_owned(), Value::Object(document).to_string());
    Workflow::load(&Folder::new(files)).ok().map(|workflow| workflow.schema)
}

/// Sets a place as a patch would.
fn set(state: &mut Value, place: &ResolvedPath, value: &Value) -> bool {
    let before = place.find(state).is_some();
    let patch =
        regatta_flow::Patch { place: place.clone(), assigned: regatta_flow::Assigned::Value(value.clone()) };
    regatta_flow::apply(state, &[patch], &Value::Null).expect("the place was chosen to be there");
    !before
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(SEED),
        ..ProptestConfig::default()
    })]

    #[test]
    fn incremental_and_whole_verdicts_agree(
        root in schema(),
        x in schema(),
        y in schema(),
        start in value(),
        changes in prop::collection::vec(change(), 1..6),
    ) {
        let Some(schema) = compile(&root, &x, &y) else { return Ok(()) };
        let mut state = if schema.check_whole(&start).is_ok() { start } else { json!({}) };
        prop_assume!(schema.check_whole(&state).is_ok());
        for (choices, value) in &changes {
            let place = place_in(&state, choices);
            if place.steps().is_empty() {
                continue;
            }
            let mut after = state.clone();
            let added = set(&mut after, &place, value);
            let whole = schema.check_whole(&after).is_ok();
            let incremental = schema.check(&after, &[Changed { place: &place, added }]).is_ok();
            prop_assert_eq!(incremental, whole, "{} at {} of {}", after, place, schema.document());
            if whole {
                state = after;
            }
        }
    }
}

#[test]
fn the_cases_meet_both_verdicts() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let (mut compiled, mut fit, mut unfit) = (0, 0, 0);
    for _ in 0..200 {
        let (root, x, y) = (schema(), schema(), schema()).new_tree(&mut runner).unwrap().current();
        let Some(schema) = compile(&root, &x, &y) else { continue };
        compiled += 1;
        let state = json!({});
        let (choices, value) = change().new_tree(&mut runner).unwrap().current();
        let mut after = state.clone();
        let place = place_in(&state, &choices);
        set(&mut after, &place, &value);
        if schema.check_whole(&after).is_ok() { fit += 1 } else { unfit += 1 }
    }
    assert!(compiled > 50 && fit > 10 && unfit > 10, "{compiled} compiled, {fit} fit, {unfit} unfit");
}
