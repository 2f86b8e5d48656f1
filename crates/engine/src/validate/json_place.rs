//! Where a value stands in a JSON text: the way from a path in a value to a line and a column.
//!
//! The text was parsed before, so this only has to find its way: it follows the steps without making any value.

use regatta_flow::PathStep;

/// Finds where the value at a path begins; if the path leads nowhere, the last value on its way.
pub(crate) fn find(text: &str, steps: &[PathStep]) -> usize {
    let mut scan = Scan { text: text.as_bytes(), at: 0 };
    scan.skip_space();
    let mut begins = scan.at;
    for step in steps {
        let found = match (scan.peek(), step) {
            (Some(b'{'), PathStep::Key(name)) => scan.enter_object(name),
            (Some(b'['), PathStep::Index(index)) => scan.enter_list(*index),
            _ => false,
        };
        if !found {
            break;
        }
        begins = scan.at;
    }
    begins
}

/// Returns the line and the column of an offset, both from 1; a column is a character.
pub(crate) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let begins = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let is_first = |byte: &&u8| **byte & 0xc0 != 0x80;
    (line, before[begins..].iter().filter(is_first).count() + 1)
}

struct Scan<'t> {
    text: &'t [u8],
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Goes to the value of a field; the last of several counts, as for the parser.
    fn enter_object(&mut self, name: &str) -> bool {
        let (opened, mut found) = (self.at, None);
        self.at += 1;
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                break;
            }
            let begins = self.at;
            self.skip_string();
            let key = serde_json::from_slice::<String>(&self.text[begins..self.at]);
            self.skip_space();
            self.at += 1;
            self.skip_space();
            if key.is_ok_and(|key| key == name) {
                found = Some(self.at);
            }
            self.skip_value();
            self.skip_space();
            if self.peek() != Some(b',') {
                break;
            }
            self.at += 1;
        }
        self.at = found.unwrap_or(opened);
        found.is_some()
    }

    fn enter_list(&mut self, index: usize) -> bool {
        let opened = self.at;
        self.at += 1;
        for _ in 0..index {
            self.skip_space();
            self.skip_value();
            self.skip_space();
            if self.peek() != Some(b',') {
                self.at = opened;
                return false;
            }
            self.at += 1;
        }
        self.skip_space();
        let is_there = self.peek().is_some_and(|byte| byte != b']');
        if !is_there {
            self.at = opened;
        }
        is_there
    }

    fn skip_value(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.skip_string();
                    if depth == 0 {
                        return;
                    }
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth == 0 => return,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        return;
                    }
                }
                b',' if depth == 0 => return,
                _ => {}
            }
            self.at += 1;
        }
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'"' => return,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regatta_flow::ResolvedPath;
    use serde_json::Value;

    const TEXT: &str = "{\n  \"tasks\": [\n    { \"id\": \"é\\\"]\", \"status\": \"done\" },\n    { \"id\": 2, \"id\": 3 }\n  ]\n}\n";

    fn place(path: &str) -> (usize, usize) {
        let path = ResolvedPath::read(path).unwrap();
        line_and_column(TEXT, find(TEXT, path.steps()))
    }

    #[test]
    fn a_path_is_found_at_its_line_and_column() {
        assert_eq!(place(""), (1, 1));
        assert_eq!(place("tasks"), (2, 12));
        assert_eq!(place("tasks[0]"), (3, 5));
        assert_eq!(place("tasks[0].status"), (3, 31));
        assert_eq!(place("tasks[1].id"), (4, 22), "the last of two fields counts");
        assert_eq!(place("tasks[1].missing"), (4, 5), "the nearest that is there");
        assert_eq!(place("tasks[7]"), (2, 12));
        assert_eq!(place("nothing.at.all"), (1, 1));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            ".{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(".{0,4}", inner, 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    /// Checks that every value stands where it is found.
    fn check(text: &str, value: &Value, steps: &mut Vec<PathStep>) {
        let at = find(text, steps);
        let read =
            serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>().next().unwrap().unwrap();
        assert_eq!(read, *value, "{steps:?} in {text}");
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    steps.push(PathStep::Index(index));
                    check(text, item, steps);
                    steps.pop();
                }
            }
            Value::Object(fields) => {
                for (name, item) in fields {
                    steps.push(PathStep::Key(name.as_str().into()));
                    check(text, item, steps);
                    steps.pop();
                }
            }
            _ => {}
        }
    }

    proptest! {
        #[test]
        fn every_value_is_found_where_it_stands(value in any_json(), is_pretty in any::<bool>()) {
            let text = if is_pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            check(&text.unwrap(), &value, &mut Vec::new());
        }

        #[test]
        fn any_text_is_survived(text in ".{0,60}", steps in prop::collection::vec(0_usize..3, 0..4)) {
            let steps: Vec<PathStep> = steps
                .into_iter()
                .map(|step| if step == 0 { PathStep::Key("a".into()) } else { PathStep::Index(step) })
                .collect();
            let at = find(&text, &steps);
            line_and_column(&text, at);
        }
    }
}
