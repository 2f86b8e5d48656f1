//! JSON to values and back, with limits.
//!
//! `serde_json`'s own reader of values takes an object whose first key is its mark for a text of JSON within JSON, each
//! nested to the full depth again, if any part of the program turns on `raw_value`. The visitor here knows no such key.
//! It also refuses what the other forgets: a second value for a key.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::{RenderError, TextFault};

/// The deepest nesting that is written and read: `serde_json` reads 127 levels.
pub const LEVELS_MAX: usize = 120;

/// The most values of one text, as each takes some hundred bytes of memory. The largest text with values of the size that
/// real files have is made of fewer.
const VALUES_MAX: usize = 1_000_000;

/// Writes a value over several lines.
pub(super) fn render_document(value: &Value) -> Result<String, RenderError> {
    check_depth(value)?;
    Ok(format!("{value:#}\n"))
}

/// Writes a value in one line.
pub(super) fn render_inline(value: &Value) -> Result<String, RenderError> {
    check_depth(value)?;
    Ok(value.to_string())
}

fn check_depth(value: &Value) -> Result<(), RenderError> {
    if is_deeper(value, LEVELS_MAX) { Err(RenderError::TooDeep) } else { Ok(()) }
}

fn is_deeper(value: &Value, levels_max: usize) -> bool {
    let is_deeper = |inner: &Value| is_deeper(inner, levels_max.saturating_sub(1));
    match value {
        Value::Array(_) | Value::Object(_) if levels_max == 0 => true,
        Value::Array(items) => items.iter().any(is_deeper),
        Value::Object(fields) => fields.values().any(is_deeper),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Reads one value, and nothing after it.
pub(super) fn parse(text: &str) -> Result<Value, TextFault> {
    let values = Cell::new(0);
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = Reading { levels_left: LEVELS_MAX, values: &values }.deserialize(&mut reader);
    read.and_then(|value| reader.end().map(|()| value)).map_err(|error| tell(&error))
}

fn tell(error: &serde_json::Error) -> TextFault {
    let (line, column) = (error.line().max(1), error.column().max(1));
    let told = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    TextFault { line, column, what: told.strip_suffix(&place).unwrap_or(&told).to_owned() }
}

/// Reads a value at some depth.
#[derive(Clone, Copy)]
struct Reading<'c> {
    levels_left: usize,
    values: &'c Cell<usize>,
}

impl Reading<'_> {
    fn enter<E: serde::de::Error>(self) -> Result<Self, E> {
        match self.levels_left.checked_sub(1) {
            Some(levels_left) => Ok(Reading { levels_left, ..self }),
            None => Err(E::custom(format_args!("nested more than {LEVELS_MAX} levels deep"))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Reading<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.values.set(self.values.get() + 1);
        if self.values.get() > VALUES_MAX {
            return Err(D::Error::custom(format_args!("the text has more than {VALUES_MAX} values")));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reading<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let within = self.enter()?;
        let mut found = Vec::new();
        while let Some(item) = items.next_element_seed(within)? {
            found.push(item);
        }
        Ok(Value::Array(found))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let within = self.enter()?;
        let mut found = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            if found.contains_key(&key) {
                return Err(A::Error::custom(format_args!(
                    "the key `{}` is there twice",
                    key.escape_debug()
                )));
            }
            let value = fields.next_value_seed(within)?;
            found.insert(key, value);
        }
        Ok(Value::Object(found))
    }
}
