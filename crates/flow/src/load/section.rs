//! Reads the tables of `workflow.toml` and reports what is wrong in them.
//!
//! A reader returns what it understood and adds a fault for the rest, so that one load finds all faults. It knows
//! TOML and expressions; the other files know what the tables mean.

use std::ops::Range;

use regatta_expr::Expression as Compiled;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::expression::{Expression, Part, RESERVED, find_word};
use crate::fault::{Fault, Faults, Position};
use crate::nearest::find_nearest;
use crate::place::{self, Place, RawSegment, Segment};
use crate::source::Source;
use crate::variables::{FactName, Local};
use crate::workflow::Limit;

/// What the reading of one file needs everywhere.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'t> {
    pub(crate) source: &'t Source<'t>,
    pub(crate) faults: &'t Faults,
    pub(crate) known: Known<'t>,
}

/// The variables that expressions may use.
#[derive(Clone, Copy, Default)]
pub(crate) struct Known<'t> {
    /// The names of `[bind]` and `[view]`.
    pub(crate) names: &'t [String],
    /// The views further down, which are not known yet.
    pub(crate) below: &'t [String],
    /// Whether facts are known.
    pub(crate) facts: bool,
    /// What comes with the occasion.
    pub(crate) local: Option<Local>,
}

impl<'t> Known<'t> {
    fn list(self) -> Vec<&'t str> {
        let mut names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let facts: &[FactName] = if self.facts { &FactName::ALL } else { &[] };
        names.extend(facts.iter().map(|fact| fact.as_str()));
        names.extend(self.local.map(Local::as_str));
        names
    }
}

/// A text with where its literal stands.
#[derive(Debug, Clone)]
pub(crate) struct Text<'t> {
    pub(crate) value: &'t str,
    pub(crate) literal: Range<usize>,
}

/// One table.
pub(crate) struct Section<'t> {
    pub(crate) reader: Reader<'t>,
    table: &'t DeTable<'t>,
    /// What it is called in a message, such as "node `coder`".
    title: String,
    part: Part,
    header: Position,
}

impl<'t> Reader<'t> {
    /// Returns the position of a whole literal or key.
    pub(crate) fn position(&self, bytes: Range<usize>) -> Position {
        self.source.position(bytes)
    }

    pub(crate) fn add(&self, fault: Fault) {
        self.faults.add(fault);
    }

    /// Compiles an expression. For one that cannot be read an unknown one stands in.
    pub(crate) fn expression(&self, text: &Text<'_>, part: &Part) -> Expression {
        self.expression_within(text, 0..text.value.len(), part)
    }

    /// Compiles the expression that is a stretch of a text.
    fn expression_within(&self, text: &Text<'_>, within: Range<usize>, part: &Part) -> Expression {
        let at =
            |bytes: Range<usize>| self.source.position_in_string(text.literal.clone(), text.value, bytes);
        let whole = within.clone();
        match Compiled::compile(&text.value[within]) {
            Ok(compiled) => {
                let expression = Expression::new(compiled, part.clone(), at(whole.clone()));
                self.check_variables(&expression, |bytes| {
                    at(whole.start + bytes.start..whole.start + bytes.end)
                });
                expression
            }
            Err(fault) => {
                let bytes = match fault.at() {
                    Some(span) => whole.start + span.start..whole.start + span.end,
                    None => whole.clone(),
                };
                let message = format!("the expression cannot be read: {fault} ({})", fault.jsonata_code());
                self.add(Fault::error("bad-expression", &at(bytes), message));
                Expression::unknown(part.clone(), at(whole))
            }
        }
    }

    fn check_variables(&self, expression: &Expression, at: impl Fn(Range<usize>) -> Position) {
        let text = expression.text();
        let known = self.known.list();
        for name in expression.reads().variables.iter().filter(|name| !known.contains(&name.as_str())) {
            let bytes = find_word(text, &format!("${name}"));
            let is_called =
                bytes.as_ref().is_some_and(|bytes| text[bytes.end..].trim_start().starts_with('('));
            let at = bytes.map_or_else(|| expression.at().clone(), &at);
            self.add(if is_called { unknown_function(name, &at) } else { self.unknown_variable(name, &at) });
        }
    }

    fn unknown_variable(&self, name: &str, at: &Position) -> Fault {
        if let Some(local) = Local::find(name) {
            let message = format!("`${name}` is not known here");
            let hint = format!("use it in {}", local.home());
            return Fault::error("misplaced-variable", at, message).with_hint(hint);
        }
        if self.known.below.iter().any(|view| view == name) {
            let message = format!("the view `${name}` is not above this one");
            return Fault::error("view-below", at, message)
                .with_hint("move it up: a view may use those above it");
        }
        let fault = Fault::error("unknown-variable", at, format!("there is no variable `${name}`"));
        let hint = "define it under `[view]` or `[bind]`; places of `[bind]` cannot use variables";
        match find_nearest(name, self.known.list()) {
            Some(nearest) => fault.with_hint(format!("did you mean `${nearest}`?")),
            None => fault.with_hint(hint),
        }
    }

    /// Reads a place. For one that cannot be read an unknown one stands in.
    pub(crate) fn place(&self, text: &Text<'_>, part: &Part) -> Place {
        let at =
            |bytes: Range<usize>| self.source.position_in_string(text.literal.clone(), text.value, bytes);
        let (path, appends) = match text.value.strip_suffix(place::APPENDS) {
            Some(list) => (list, true),
            None => (text.value, false),
        };
        let raw = match place::split(path) {
            Ok(raw) => raw,
            Err(bad) => {
                let fault = Fault::error("bad-place", &at(bad.offset()..text.value.len()), bad.to_string());
                self.add(fault.with_hint("a place is a path such as `tasks[currentTaskIndex].status`, or a list and `[+]` to add to it"));
                return Place::unknown(text.value);
            }
        };
        if let Some(RawSegment::Name(name)) = raw.first()
            && RESERVED.contains(&name.as_str())
        {
            let message = format!("`{name}` is not a part of the state and cannot be set or named");
            self.add(Fault::error("bad-place", &at(0..name.len()), message));
            return Place::unknown(text.value);
        }
        let segments = raw.into_iter().map(|segment| match segment {
            RawSegment::Name(name) => Segment::Name(name.into()),
            RawSegment::At(bytes) => Segment::At(self.expression_within(text, bytes, part)),
        });
        Place::new(text.value, segments.collect(), appends)
    }
}

impl<'t> Section<'t> {
    /// Takes a table and notes the keys that it does not know.
    pub(crate) fn new(
        reader: Reader<'t>,
        table: &'t DeTable<'t>,
        title: String,
        part: Part,
        header: Position,
        known: &[&str],
    ) -> Section<'t> {
        let section = Section { reader, table, title, part, header };
        for (key, _) in section.entries().into_iter().filter(|(key, _)| !known.contains(&key.value)) {
            let message = format!("{} has no key `{}`", section.title, key.value);
            let fault = Fault::error("unknown-key", &reader.position(key.literal), message);
            let nearest = find_nearest(key.value, known.iter().copied());
            let list = || format!("its keys are {}", list_names(known));
            reader.add(match nearest {
                Some(_) => fault.with_nearest(nearest),
                None => fault.with_hint(list()),
            });
        }
        section
    }

    /// Lets the expressions that are read from here on use the names of `[bind]`, and facts.
    pub(crate) fn with_variables(self, names: &'t [String]) -> Section<'t> {
        let known = Known { names, facts: true, ..self.reader.known };
        Section { reader: Reader { known, ..self.reader }, ..self }
    }

    /// Lets the expressions that are read from here on use a variable that comes with what they are for.
    pub(crate) fn with_local(self, local: Local) -> Section<'t> {
        let known = Known { local: Some(local), ..self.reader.known };
        Section { reader: Reader { known, ..self.reader }, ..self }
    }

    pub(crate) fn header(&self) -> &Position {
        &self.header
    }

    pub(crate) fn part(&self) -> &Part {
        &self.part
    }

    /// Returns the keys and values in the order of the file.
    pub(crate) fn entries(&self) -> Vec<(Text<'t>, &'t Spanned<DeValue<'t>>)> {
        entries_of(self.table)
    }

    fn find(&self, key: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.table.get(key)
    }

    fn wrong_type(&self, key: &str, value: &Spanned<DeValue<'_>>, wanted: &str) {
        let at = self.reader.position(value.span());
        let found = name_value(value.get_ref(), &at);
        let message = format!("`{key}` of {} must be {wanted}, but is {found}", self.title);
        self.reader.add(Fault::error("wrong-type", &at, message));
    }

    /// Notes that a key is missing.
    pub(crate) fn missing(&self, key: &str, hint: String) {
        let message = format!("{} has no `{key}`", self.title);
        self.reader.add(Fault::error("missing-key", &self.header, message).with_hint(hint));
    }

    pub(crate) fn text(&self, key: &str) -> Option<Text<'t>> {
        let value = self.find(key)?;
        let text = text_of(value);
        if text.is_none() {
            self.wrong_type(key, value, "a text");
        }
        text
    }

    pub(crate) fn needed_text(&self, key: &str) -> Option<Text<'t>> {
        if self.find(key).is_none() {
            self.missing(key, format!("add `{key} = …`"));
        }
        self.text(key)
    }

    /// Reads an expression, if the key is there.
    pub(crate) fn expression(&self, key: &str) -> Option<Expression> {
        self.find(key).map(|value| self.expression_of(key, value))
    }

    pub(crate) fn needed_expression(&self, key: &str) -> Expression {
        self.expression(key).unwrap_or_else(|| {
            self.missing(key, format!("add `{key} = …`"));
            Expression::unknown(self.part.clone(), self.header.clone())
        })
    }

    /// Reads the expression that a value is.
    pub(crate) fn expression_of(&self, key: &str, value: &'t Spanned<DeValue<'t>>) -> Expression {
        match text_of(value) {
            Some(text) => self.reader.expression(&text, &self.part),
            None => {
                self.not_an_expression(key, value);
                Expression::unknown(self.part.clone(), self.reader.position(value.span()))
            }
        }
    }

    /// Notes a value that is no expression, with how to write it as one.
    pub(crate) fn not_an_expression(&self, key: &str, value: &Spanned<DeValue<'_>>) {
        let at = self.reader.position(value.span());
        let found = name_value(value.get_ref(), &at);
        let message = format!("`{key}` of {} must be an expression in quotes, but is {found}", self.title);
        let fault = Fault::error("wrong-type", &at, message);
        self.reader.add(match value.get_ref() {
            DeValue::Table(_) => {
                fault.with_hint(format!("write a place in quotes, such as `\"{key}.field\" = …`"))
            }
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) => {
                fault.with_hint(format!("write `{key} = \"{}\"`", at.excerpt))
            }
            _ => fault,
        });
    }

    pub(crate) fn boolean(&self, key: &str) -> Option<bool> {
        let value = self.find(key)?;
        let boolean = value.get_ref().as_bool();
        if boolean.is_none() {
            self.wrong_type(key, value, "`true` or `false`");
        }
        boolean
    }

    /// Reads a whole number from 1.
    pub(crate) fn count(&self, key: &str) -> Option<u32> {
        let value = self.find(key)?;
        let count = count_of(value.get_ref());
        if count.is_none() {
            self.wrong_type(key, value, "a whole number from 1");
        }
        count
    }

    /// Reads a whole number from 1, or an expression that gives one.
    pub(crate) fn limit(&self, key: &str) -> Option<Limit> {
        let value = self.find(key)?;
        match value.get_ref() {
            DeValue::String(_) => Some(Limit::Of(self.expression_of(key, value))),
            other => match count_of(other) {
                Some(count) => Some(Limit::Count(count)),
                None => {
                    self.wrong_type(key, value, "a whole number from 1, or an expression in quotes");
                    None
                }
            },
        }
    }

    /// Reads a list, each item by `read`; what cannot be read is a fault.
    pub(crate) fn list<T>(
        &self,
        key: &str,
        wanted: &str,
        read: impl Fn(&'t Spanned<DeValue<'t>>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let value = self.find(key)?;
        let DeValue::Array(items) = value.get_ref() else {
            self.wrong_type(key, value, wanted);
            return None;
        };
        let mut found = Vec::new();
        for item in items.iter() {
            match read(item) {
                Some(item) => found.push(item),
                None => self.wrong_type(key, item, wanted),
            }
        }
        Some(found)
    }

    /// Whether there is a key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    /// Whether a key has a list.
    pub(crate) fn is_list(&self, key: &str) -> bool {
        self.find(key).is_some_and(|value| matches!(value.get_ref(), DeValue::Array(_)))
    }

    /// Returns a table and where its key stands.
    pub(crate) fn table(&self, key: &str) -> Option<(&'t DeTable<'t>, Position)> {
        let (name, value) = self.table.get_key_value(key)?;
        match value.get_ref() {
            DeValue::Table(table) => Some((table, self.reader.position(name.span()))),
            _ => {
                self.wrong_type(key, value, "a table");
                None
            }
        }
    }

    /// Returns the tables of an array with where each begins.
    pub(crate) fn tables(&self, key: &str) -> Vec<(&'t DeTable<'t>, Position)> {
        let read = |item: &'t Spanned<DeValue<'t>>| match item.get_ref() {
            DeValue::Table(table) => Some((table, self.reader.source.line_at(item.span().start))),
            _ => None,
        };
        self.list(key, "an array of tables", read).unwrap_or_default()
    }
}

/// Returns the keys and values of a table in the order of the file.
pub(crate) fn entries_of<'t>(table: &'t DeTable<'t>) -> Vec<(Text<'t>, &'t Spanned<DeValue<'t>>)> {
    let entry = |(key, value): (&'t Spanned<_>, _)| {
        let name: &'t std::borrow::Cow<'t, str> = key.get_ref();
        (Text { value: name, literal: key.span() }, value)
    };
    let mut entries: Vec<_> = table.iter().map(entry).collect();
    entries.sort_by_key(|(key, _)| key.literal.start);
    entries
}

pub(crate) fn text_of<'t>(value: &'t Spanned<DeValue<'t>>) -> Option<Text<'t>> {
    Some(Text { value: value.get_ref().as_str()?, literal: value.span() })
}

fn unknown_function(name: &str, at: &Position) -> Fault {
    let fault = Fault::error("unknown-variable", at, format!("there is no function `${name}`"));
    match find_nearest(name, regatta_expr::function_names()) {
        Some(nearest) => fault.with_hint(format!("did you mean `${nearest}`?")),
        None => fault.with_hint("use a function of JSONata, or define it in the expression"),
    }
}

/// Reads a whole number from 1.
pub(crate) fn count_of(value: &DeValue<'_>) -> Option<u32> {
    let integer = value.as_integer()?;
    u32::from_str_radix(integer.as_str(), integer.radix()).ok().filter(|count| *count > 0)
}

/// Lists names as `a`, `b` and `c`.
pub(crate) fn list_names(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

fn name_value(value: &DeValue<'_>, at: &Position) -> String {
    match value {
        DeValue::String(_) => "a text".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
        DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {
            format!("`{}`", at.excerpt)
        }
    }
}
