//! Reads the tables of a script and collects every fault with its place.
//!
//! The TOML tree is walked by hand rather than by serde, which stops at the first fault. What a single step may
//! hold is in `step`.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::{Fault, FaultKind};
use super::script::{Part, Script, Step};
use super::step::read_step;
use super::template::Template;
use crate::text::cut_length;

/// Differences up to which a key counts as mistyped.
const MISTYPED_MAX: usize = 2;

pub(super) type Value<'i> = Spanned<DeValue<'i>>;

/// Reads a script.
pub(super) fn parse(text: &str) -> Result<Script, Vec<Fault>> {
    let mut faults = Faults { text, found: Vec::new() };
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let message = error.message().to_owned();
        faults.add(error.span().unwrap_or_default(), FaultKind::Syntax { message });
    }
    if !faults.found.is_empty() {
        // What a broken text means is a guess, and faults of a guess would only confuse.
        return Err(faults.into_sorted());
    }
    let mut fields = Fields::read(document.get_ref(), document.span(), &["session"], &mut faults);
    let parts: Vec<Option<Part>> = match fields.take("session") {
        Some(value) => read_parts(value, &mut faults),
        None => Vec::new(),
    };
    if parts.is_empty() && faults.found.is_empty() {
        faults.add(0..0, FaultKind::NoSession);
    }
    match Script::new(parts.into_iter().flatten().collect()) {
        Some(script) if faults.found.is_empty() => Ok(script),
        _ => Err(faults.into_sorted()),
    }
}

fn read_parts(value: &Value<'_>, faults: &mut Faults<'_>) -> Vec<Option<Part>> {
    faults.list("session", value).iter().map(|part| read_part(part, faults)).collect()
}

fn read_part(value: &Value<'_>, faults: &mut Faults<'_>) -> Option<Part> {
    let table = faults.table("session", value)?;
    let keys = &["item", "node", "turns", "agent_session", "step"];
    let mut fields = Fields::read(table, value.span(), keys, faults);
    let item = fields.take("item").and_then(|item| faults.string("item", item)).map(str::to_owned);
    let node = fields.take("node").and_then(|node| faults.string("node", node)).map(str::to_owned);
    let agent_session = fields.take("agent_session");
    let agent_session =
        agent_session.and_then(|name| faults.string("agent_session", name)).map(str::to_owned);
    let turns =
        fields.take("turns").map(|turns| faults.integer("turns", turns, 1..=u32::MAX.into(), "1 or more"));
    // Read to the end before a bad one counts, so that all faults are reported at once.
    let steps: Vec<Option<Step>> = match fields.take("step") {
        Some(steps) => faults.list("step", steps).iter().map(|step| read_step(step, faults)).collect(),
        None => Vec::new(),
    };
    let turns = turns.flatten().and_then(|turns| u32::try_from(turns).ok());
    Some(Part { item, node, turns, agent_session, steps: steps.into_iter().collect::<Option<_>>()? })
}

/// The faults found so far.
pub(super) struct Faults<'t> {
    text: &'t str,
    found: Vec<Fault>,
}

impl Faults<'_> {
    pub(super) fn add(&mut self, span: Range<usize>, kind: FaultKind) {
        let before = &self.text[..cut_length(self.text, span.start)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        self.found.push(Fault {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            kind,
        });
    }

    pub(super) fn wrong_type<T>(
        &mut self,
        key: &str,
        value: &Value<'_>,
        expected: &'static str,
    ) -> Option<T> {
        let found = name_type(value.get_ref());
        self.add(value.span(), FaultKind::WrongType { key: key.to_owned(), expected, found });
        None
    }

    pub(super) fn string<'v>(&mut self, key: &str, value: &'v Value<'_>) -> Option<&'v str> {
        match value.get_ref() {
            DeValue::String(text) => Some(text),
            _ => self.wrong_type(key, value, "a string"),
        }
    }

    pub(super) fn template(&mut self, key: &str, value: &Value<'_>) -> Option<Template> {
        let text = self.string(key, value)?;
        match Template::parse(text) {
            Ok(template) => Some(template),
            Err(fault) => {
                self.add(value.span(), FaultKind::Template { key: key.to_owned(), fault });
                None
            }
        }
    }

    pub(super) fn integer(
        &mut self,
        key: &'static str,
        value: &Value<'_>,
        allowed: std::ops::RangeInclusive<i64>,
        expected: &'static str,
    ) -> Option<i64> {
        let DeValue::Integer(integer) = value.get_ref() else {
            return self.wrong_type(key, value, "an integer");
        };
        let number = i64::from_str_radix(integer.as_str(), integer.radix()).ok();
        let allowed_number = number.filter(|number| allowed.contains(number));
        if allowed_number.is_none() {
            let found = integer.to_string();
            self.add(value.span(), FaultKind::NotAllowed { key, expected, found });
        }
        allowed_number
    }

    pub(super) fn table<'v, 'i>(&mut self, key: &str, value: &'v Value<'i>) -> Option<&'v DeTable<'i>> {
        match value.get_ref() {
            DeValue::Table(table) => Some(table),
            _ => self.wrong_type(key, value, "a table"),
        }
    }

    /// Returns the elements of a list; none, with a fault, if it is no list.
    pub(super) fn list<'v, 'i>(&mut self, key: &str, value: &'v Value<'i>) -> &'v [Value<'i>] {
        match value.get_ref() {
            DeValue::Array(elements) => elements,
            _ => self.wrong_type(key, value, "a list").unwrap_or_default(),
        }
    }

    fn into_sorted(mut self) -> Vec<Fault> {
        self.found.sort_by_key(|fault| (fault.line, fault.column));
        self.found
    }
}

/// The known fields of one table; unknown ones are already reported.
pub(super) struct Fields<'v, 'i> {
    span: Range<usize>,
    values: Vec<(&'static str, &'v Value<'i>)>,
}

impl<'v, 'i> Fields<'v, 'i> {
    pub(super) fn read(
        table: &'v DeTable<'i>,
        span: Range<usize>,
        known: &'static [&'static str],
        faults: &mut Faults<'_>,
    ) -> Fields<'v, 'i> {
        let mut values = Vec::new();
        for (key, value) in table {
            match known.iter().find(|name| **name == key.get_ref()) {
                Some(name) => values.push((*name, value)),
                None => {
                    let key_text = key.get_ref().to_string();
                    let nearest = find_nearest(&key_text, known);
                    faults.add(key.span(), FaultKind::UnknownKey { key: key_text, nearest, known });
                }
            }
        }
        Fields { span, values }
    }

    /// Returns the place of the table.
    pub(super) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Returns the keys that are there.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.values.iter().map(|(name, _)| *name)
    }

    pub(super) fn take(&mut self, key: &'static str) -> Option<&'v Value<'i>> {
        let position = self.values.iter().position(|(name, _)| *name == key)?;
        Some(self.values.swap_remove(position).1)
    }

    /// Returns a text that must be there.
    pub(super) fn take_template(&mut self, key: &'static str, faults: &mut Faults<'_>) -> Option<Template> {
        match self.take(key) {
            Some(value) => faults.template(key, value),
            None => {
                faults.add(self.span(), FaultKind::MissingKey { key });
                None
            }
        }
    }
}

/// Returns the known name that a mistyped one is nearest to.
pub(super) fn find_nearest(name: &str, known: &'static [&'static str]) -> Option<&'static str> {
    let distance = |candidate: &&&'static str| strsim::damerau_levenshtein(name, candidate);
    let nearest = known.iter().min_by_key(|candidate| distance(candidate))?;
    let is_near = distance(&nearest) <= MISTYPED_MAX && distance(&nearest) < nearest.len();
    is_near.then_some(nearest)
}

fn name_type(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        let shown = match Script::parse(text) {
            Ok(script) => format!("{script:?}"),
            Err(error) => error.to_string(),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn faults_have_a_place_and_a_hint() {
        check("", expect!["line 1, column 1: a script needs at least one [[session]]"]);
        check("[[session]]\nturns = 0\n", expect!["line 2, column 9: `turns` must be 1 or more, and is `0`"]);
        check("[[session]\nturns = \n", expect!["line 1, column 11: unclosed array table, expected `]`"]);
        check("[[sesion]]\n", expect!["line 1, column 3: unknown key `sesion`; did you mean `session`?"]);
        check("session = 1\n", expect!["line 1, column 11: `session` must be a list, and is an integer"]);
        check(
            "[[session]]\nturns = \"many\"\nstep = \"say\"\n",
            expect![[r#"
            line 2, column 9: `turns` must be an integer, and is a string
            line 3, column 8: `step` must be a list, and is a string"#]],
        );
        check(
            "[[session]]\n[[session.step]]\n",
            expect![
                "line 2, column 1: a step needs one of: say, write, append, replace, remove, commit, delay, fault, run, exit, result, usage, ask"
            ],
        );
        check(
            "[[session]]\n[[session.step]]\nsay = 1\n[[session.step]]\nremove = 2\n",
            expect![[r#"
                line 3, column 7: `say` must be a string, and is an integer
                line 5, column 10: `remove` must be a string, and is an integer"#]],
        );
        check(
            "[[session]]\n[[session.step]]\nsya = \"ä\"\n",
            expect!["line 3, column 1: unknown key `sya`; did you mean `say`?"],
        );
        check(
            "[[session]]\n[[session.step]]\nwhatever = 1\n",
            expect![
                "line 3, column 1: unknown key `whatever`; known are: say, write, append, replace, remove, commit, delay, fault, run, exit, result, usage, ask, bytes, reset"
            ],
        );
        check(
            "[[session]]\n[[session.step]]\nsay = \"a\"\nexit = 0\n",
            expect!["line 2, column 1: a step does one thing, but this one has: say, exit"],
        );
    }

    #[test]
    fn faults_of_each_action() {
        let step = |text: &str| format!("[[session]]\n[[session.step]]\n{text}\n");
        check(&step("say = 1"), expect!["line 3, column 7: `say` must be a string, and is an integer"]);
        check(
            &step("say = \"${open\""),
            expect!["line 3, column 7: `say`: `${` is not closed; write `$$` for a plain `$`"],
        );
        check(
            &step("write = { path = \"a\", txt = \"b\" }"),
            expect![[r#"
            line 3, column 9: the key `text` is missing
            line 3, column 23: unknown key `txt`; did you mean `text`?"#]],
        );
        check(
            &step("replace = { path = 1, from = \"a\" }"),
            expect![[r#"
            line 3, column 11: the key `to` is missing
            line 3, column 20: `path` must be a string, and is an integer"#]],
        );
        check(&step("commit = \" \""), expect!["line 3, column 10: `commit` must be a message, and is ``"]);
        check(
            &step("delay = \"5 parsecs\""),
            expect!["line 3, column 9: `delay` must be a time such as 200ms, 5s or 2m, and is `5 parsecs`"],
        );
        check(&step("delay = 5"), expect!["line 3, column 9: `delay` must be a string, and is an integer"]);
        check(
            &step("fault = \"rate-limit\""),
            expect!["line 3, column 9: unknown fault `rate-limit`; did you mean `rate_limit`?"],
        );
        check(
            &step("fault = \"earthquake\""),
            expect![
                "line 3, column 9: unknown fault `earthquake`; known are: crash, hang, rate_limit, network, refused, invalid_output, flood"
            ],
        );
        check(
            &step("fault = \"crash\"\nbytes = 5"),
            expect![[r#"line 4, column 9: `bytes` belongs to `fault = "flood"`"#]],
        );
        check(
            &step("fault = \"crash\"\nreset = \"5s\""),
            expect![[r#"line 4, column 9: `reset` belongs to `fault = "rate_limit"`"#]],
        );
        check(
            &step("usage = { input = -1, tokens = 2 }"),
            expect![[r#"
                line 3, column 19: `input` must be 0 or more, and is `-1`
                line 3, column 23: unknown key `tokens`; known are: input, cached, output, cost_micros"#]],
        );
        check(
            &step("fault = \"flood\"\nbytes = -5"),
            expect!["line 4, column 9: `bytes` must be 0 or more, and is `-5`"],
        );
        check(
            &step("run = []"),
            expect!["line 3, column 7: `run` must be a program and its arguments, and is `[]`"],
        );
        check(&step("run = \"ls -l\""), expect!["line 3, column 7: `run` must be a list, and is a string"]);
        check(
            &step("run = [\"ls\", 1]"),
            expect!["line 3, column 14: `run` must be a string, and is an integer"],
        );
        check(
            &step("exit = 256"),
            expect!["line 3, column 8: `exit` must be an exit code from 0 to 255, and is `256`"],
        );
        check(
            &step("result = { a = nan, b = \"${\" }"),
            expect![[r#"
            line 3, column 16: `result` must be a number that JSON has, and is a float
            line 3, column 25: `result`: `${` is not closed; write `$$` for a plain `$`"#]],
        );
    }

    #[test]
    fn all_faults_are_found_at_once_in_the_order_of_the_text() {
        let text = "extra = 1\n[[session]]\nturn = 1\n[[session.step]]\nsay = 1\n[[session]]\nturns = -1\n";
        check(
            text,
            expect![[r#"
            line 1, column 1: unknown key `extra`; known are: session
            line 3, column 1: unknown key `turn`; did you mean `turns`?
            line 5, column 7: `say` must be a string, and is an integer
            line 7, column 9: `turns` must be 1 or more, and is `-1`"#]],
        );
    }

    #[test]
    fn the_last_part_repeats() {
        let script = Script::parse("[[session]]\nturns = 1\n[[session]]\nturns = 2\n").unwrap();
        let turns = |number| script.part(number, None, None).turns;
        assert_eq!([0, 1, 2, 3, u32::MAX].map(turns), [Some(1), Some(1), Some(2), Some(2), Some(2)]);
    }

    #[test]
    fn an_item_may_have_parts_of_its_own() {
        let text = "[[session]]\nturns = 1\n[[session]]\nitem = \"b\"\nturns = 2\n\
            [[session]]\nturns = 3\n[[session]]\nitem = \"b\"\nturns = 4\n";
        let script = Script::parse(text).unwrap();
        let turns = |item| [1, 2, 3].map(|number| script.part(number, item, None).turns.unwrap());
        assert_eq!(turns(None), [1, 3, 3]);
        assert_eq!(turns(Some("a")), [1, 3, 3]);
        assert_eq!(turns(Some("b")), [2, 4, 4]);
    }

    #[test]
    fn a_node_may_have_parts_of_its_own() {
        let text = "[[session]]\nturns = 1\n[[session]]\nnode = \"plan\"\nturns = 2\n\
            [[session]]\nnode = \"plan\"\nturns = 3\n[[session]]\nitem = \"b\"\nturns = 4\n\
            [[session]]\nitem = \"b\"\nnode = \"plan\"\nturns = 5\n";
        let script = Script::parse(text).unwrap();
        let turns = |item, node| [1, 2].map(|number| script.part(number, item, node).turns.unwrap());
        assert_eq!(turns(None, Some("plan")), [2, 3]);
        assert_eq!(turns(Some("a"), Some("plan")), [2, 3]);
        assert_eq!(turns(None, Some("code")), [1, 1]);
        assert_eq!(turns(Some("b"), Some("code")), [4, 4]);
        assert_eq!(turns(Some("b"), Some("plan")), [5, 5]);
    }

    #[test]
    fn every_action_is_read() {
        let text = r#"
            [[session]]
            turns = 3
            agent_session = "again"
              [[session.step]]
              say = "hello"
              [[session.step]]
              delay = "2m"
              [[session.step]]
              fault = "flood"
              bytes = 0x10
              [[session.step]]
              fault = "rate_limit"
              reset = "2s"
              [[session.step]]
              usage = { input = 10, cost_micros = 5 }
              [[session.step]]
              ask = "look outside"
              [[session.step]]
              run = ["ls", "-l"]
              [[session.step]]
              exit = 7
              [[session.step]]
              result = { z = 1, a = [true, 1.5, { b = "x" }], at = 2020-01-01 }
        "#;
        check(
            text,
            expect![[
                r#"Script { parts: [Part { item: None, node: None, turns: Some(3), agent_session: Some("again"), steps: [Say(Template { parts: [Text("hello")] }), Delay(120s), Mishap(Flood { bytes: 16 }), Mishap(RateLimit { reset: Some(2s) }), Use(Usage { input_tokens: 10, cached_tokens: 0, output_tokens: 0, cost_micros: Some(5) }), Ask(Template { parts: [Text("look outside")] }), Run([Template { parts: [Text("ls")] }, Template { parts: [Text("-l")] }]), Exit(7), Result(Object {"z": Number(1), "a": Array [Bool(true), Number(1.5), Object {"b": String("x")}], "at": String("2020-01-01")})] }] }"#
            ]],
        );
    }
}
