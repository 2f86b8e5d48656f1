//! What agents may return: any JSON at all, and outputs that fit their schema with whatever content.
//!
//! Everything is derived from one number, so that a failing case can be repeated. The nesting goes to just
//! below what the parser of an agent's text accepts; deeper values never get in.

use serde_json::{Map, Value, json};

/// The reader of JSON text takes no more levels than 127.
const DEPTH_MAX: u64 = 127;
/// An array or object has fewer entries than this: more of them show nothing new.
const ENTRIES_MAX: u64 = 5;
/// So many tasks are in an output at most, some of them with the same id.
pub(super) const TASKS_MAX: usize = 4;

/// Names that mean something to some role, expression or reader, and some that nobody expects.
const NAMES: [&str; 14] = [
    "tasks",
    "taskId",
    "status",
    "approved",
    "selfValidation",
    "passed",
    "issues",
    "id",
    "summary",
    "",
    "0",
    "__proto__",
    "$",
    "a.b[0]",
];

const TEXTS: [&str; 16] = [
    "",
    " \t\r\n",
    "\0",
    "T001",
    "PRD",
    "true",
    "1e999",
    "\u{202e}txet",
    "\u{feff}",
    "e\u{301}\u{1f469}\u{200d}\u{1f4bb}",
    "' & $error('x') & '",
    "{{ input.prd }}{% for x in y %}",
    "../../../etc/passwd",
    "```\n## 3. Progress\n- [x] done\n",
    "$serde_json::private::Number",
    "\u{10ffff}\u{1}",
];

/// Ids that a schema may allow and that a task still has to live with; some are alike but for their case.
const IDS: [&str; 7] = ["T001", "t001", "PRD", "0", "a..b", "__-__x", "constructor"];

/// Numbers by chance, the same for the same seed.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Dice(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `sides`.
    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        self.bits() % sides
    }

    fn is_lucky(&mut self) -> bool {
        self.roll(2) == 0
    }

    fn pick<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.roll(texts.len() as u64) as usize]
    }
}

/// Returns any JSON, now and then nested as deep as a text may be.
pub(super) fn any_json(dice: &mut Dice) -> Value {
    if dice.roll(12) > 0 {
        return any_value(dice, 4);
    }
    let inside = any_value(dice, 0);
    (0..1 + dice.roll(DEPTH_MAX)).fold(inside, |inside, level| match (dice.roll(3), level) {
        (0, _) => json!({ dice.pick(&NAMES): inside }),
        _ => json!([inside]),
    })
}

fn any_value(dice: &mut Dice, depth: u64) -> Value {
    match dice.roll(if depth == 0 { 6 } else { 10 }) {
        0 => Value::Null,
        1 => dice.is_lucky().into(),
        2 | 3 => any_number(dice),
        4 | 5 => any_text(dice).into(),
        6 | 7 => (0..dice.roll(ENTRIES_MAX)).map(|_| any_value(dice, depth - 1)).collect(),
        _ => (0..dice.roll(ENTRIES_MAX))
            .map(|_| (any_name(dice), any_value(dice, depth - 1)))
            .collect::<Map<_, _>>()
            .into(),
    }
}

fn any_number(dice: &mut Dice) -> Value {
    match dice.roll(9) {
        0 => u64::MAX.into(),
        1 => i64::MIN.into(),
        2 => f64::MAX.into(),
        3 => f64::MIN_POSITIVE.into(),
        4 => (-0.0).into(),
        5 => (9_007_199_254_740_993_u64).into(),
        6 => dice.roll(4).into(),
        // What is no number becomes null.
        7 => f64::from_bits(dice.bits()).into(),
        _ => (dice.bits() as i64).into(),
    }
}

fn any_text(dice: &mut Dice) -> String {
    match dice.roll(8) {
        0 => (0..dice.roll(9)).filter_map(|_| char::from_u32(dice.roll(0x11_0000) as u32)).collect(),
        1 => dice.pick(&TEXTS).repeat(1 + dice.roll(400) as usize),
        _ => dice.pick(&TEXTS).to_owned(),
    }
}

fn any_name(dice: &mut Dice) -> String {
    if dice.roll(4) == 0 { any_text(dice) } else { dice.pick(&NAMES).to_owned() }
}

fn any_texts(dice: &mut Dice) -> Vec<String> {
    (0..dice.roll(ENTRIES_MAX)).map(|_| any_text(dice)).collect()
}

/// Adds fields that nobody asked for; those that are there stay.
fn with_more(dice: &mut Dice, mut value: Value) -> Value {
    let fields = value.as_object_mut().expect("an output is an object");
    for _ in 0..dice.roll(3) {
        let (name, more) = (any_name(dice), any_json(dice));
        fields.entry(name).or_insert(more);
    }
    value
}

/// Returns tasks that fit the schema of `spec`; their ids may be the same.
pub(super) fn any_spec(dice: &mut Dice) -> Value {
    let tasks: Vec<Value> =
        (0..=dice.roll(TASKS_MAX as u64)).take(TASKS_MAX).map(|_| any_task(dice)).collect();
    let estimate = dice.pick(&["hours", "days", "weeks"]);
    let by_priority = json!({ any_name(dice): dice.roll(9), any_name(dice): u64::MAX });
    let summary =
        json!({ "totalTasks": u64::MAX, "byPriority": by_priority, "estimatedComplexity": estimate });
    let summary = with_more(dice, summary);
    with_more(dice, json!({ "tasks": tasks, "summary": summary }))
}

fn any_task(dice: &mut Dice) -> Value {
    let id = match dice.roll(8) {
        0 => "x".repeat(64),
        1 => any_text(dice),
        _ => dice.pick(&IDS).to_owned(),
    };
    let task = json!({
        "id": id, "title": any_text(dice), "description": any_text(dice), "priority": 1 + dice.roll(5),
        "complexity": dice.pick(&["simple", "medium", "complex"]), "acceptanceCriteria": any_texts(dice),
        "status": "pending",
    });
    with_more(dice, task)
}

/// Returns what fits the schema of `coder`; with `goes_on` it is not blocked.
pub(super) fn any_code(dice: &mut Dice, goes_on: bool) -> Value {
    let states = if goes_on {
        &["complete", "needs_revision"][..]
    } else {
        &["complete", "needs_revision", "blocked"]
    };
    let validation = json!({ "passed": dice.is_lucky(), "issues": any_texts(dice) });
    let validation = with_more(dice, validation);
    let output = json!({
        "code": any_text(dice), "taskId": any_text(dice), "status": dice.pick(states), "selfValidation": validation,
    });
    with_more(dice, output)
}

/// Returns what fits the schema of `reviewer`.
pub(super) fn any_review(dice: &mut Dice) -> Value {
    let severities = ["blocker", "major", "minor"];
    let issues: Vec<Value> = (0..dice.roll(ENTRIES_MAX))
        .map(|_| json!({ "severity": dice.pick(&severities), "description": any_text(dice) }))
        .collect();
    let results: Vec<Value> = (0..dice.roll(ENTRIES_MAX))
        .map(|_| json!({ "criterion": any_text(dice), "met": dice.is_lucky() }))
        .collect();
    let output = json!({
        "taskId": any_text(dice), "approved": dice.is_lucky(), "issues": issues, "criteriaResults": results,
    });
    with_more(dice, output)
}
