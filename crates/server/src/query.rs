//! The parameters after the `?` of an address: each known, and given at most once.

use crate::answer::invalid;
use crate::route::{Kind, Parameter};
use regatta_engine::core::Problem;
use std::collections::BTreeMap;
use std::str::FromStr;

/// The longest value of a parameter, in bytes.
const VALUE_BYTES_MAX: usize = 2_000;

/// The parameters of one request.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Query {
    values: BTreeMap<&'static str, String>,
}

impl Query {
    /// Reads the parameters, and refuses those that the route does not know.
    pub(crate) fn parse(text: &str, known: &[Parameter]) -> Result<Self, Problem> {
        let mut pairs = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            pairs.push((decode("query", name)?, decode(name, value)?));
        }
        Query::of(pairs, known)
    }

    /// Reads parameters that are not encoded, with the same rules.
    pub(crate) fn of(pairs: Vec<(String, String)>, known: &[Parameter]) -> Result<Self, Problem> {
        let mut values = BTreeMap::new();
        for (name, value) in pairs {
            let Some(parameter) = known.iter().find(|known| known.name == name) else {
                let names: Vec<&str> = known.iter().map(|known| known.name).collect();
                let there = if names.is_empty() {
                    "there is none here".to_owned()
                } else {
                    format!("choose from {}", names.join(", "))
                };
                return Err(invalid(&name, format!("is no parameter of this address; {there}")));
            };
            if value.len() > VALUE_BYTES_MAX {
                return Err(invalid(&name, format!("is longer than {VALUE_BYTES_MAX} bytes")));
            }
            // Before anything is done: a change that is refused afterwards has happened all the same.
            check(parameter, &value)?;
            if values.insert(parameter.name, value).is_some() {
                return Err(invalid(&name, "is given twice"));
            }
        }
        Ok(Query { values })
    }

    /// Returns a parameter as it was given.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Reads a parameter.
    pub(crate) fn get<T: FromStr>(&self, name: &str) -> Result<Option<T>, Problem>
    where
        T::Err: ToString,
    {
        self.text(name).map(|text| read(name, text)).transpose()
    }

    /// Reads a parameter that is `true` or `false`; alone it is `true`.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Problem> {
        self.text(name).map_or(Ok(false), |text| read_flag(name, text))
    }

    /// Reads a number within limits.
    pub(crate) fn number(&self, name: &str, default: u64, max: u64) -> Result<u64, Problem> {
        match self.get::<u64>(name)? {
            None => Ok(default),
            Some(number) if number <= max => Ok(number),
            Some(_) => Err(at_most(name, max)),
        }
    }
}

/// Refuses a value that is not of the kind of its parameter.
fn check(parameter: &Parameter, value: &str) -> Result<(), Problem> {
    let name = parameter.name;
    match parameter.kind {
        Kind::Text => Ok(()),
        Kind::Flag => read_flag(name, value).map(drop),
        Kind::Number => read::<u64>(name, value).map(drop),
        Kind::UpTo(max) if read::<u64>(name, value)? > max => Err(at_most(name, max)),
        Kind::UpTo(_) => Ok(()),
    }
}

fn at_most(name: &str, max: u64) -> Problem {
    invalid(name, format!("must be at most {max}"))
}

fn read_flag(name: &str, text: &str) -> Result<bool, Problem> {
    match text {
        "false" => Ok(false),
        "true" | "" => Ok(true),
        _ => Err(invalid(name, "must be true or false")),
    }
}

/// Reads a part of an address.
pub(crate) fn read<T: FromStr>(name: &str, text: &str) -> Result<T, Problem>
where
    T::Err: ToString,
{
    // `std` speaks of digits in a string and of target types.
    text.parse().map_err(|error: T::Err| match error.to_string() {
        why if why.contains("digit") || why.contains("integer") => invalid(name, "must be a whole number"),
        why if why.contains("target type") => invalid(name, "is too large a number"),
        why => invalid(name, format!("is wrong: {why}")),
    })
}

/// Decodes a part of an address.
pub(crate) fn decode(name: &str, text: &str) -> Result<String, Problem> {
    let wrong = || invalid(name, "is not encoded correctly");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
                let (Some(high), Some(low)) = (digit(rest.next()), digit(rest.next())) else {
                    return Err(wrong());
                };
                bytes.push(u8::try_from(high * 16 + low).expect("two digits are a byte"));
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::Kind;

    const KNOWN: &[Parameter] = &[
        Parameter { name: "text", kind: Kind::Text, about: "" },
        Parameter { name: "limit", kind: Kind::UpTo(10), about: "" },
        Parameter { name: "after", kind: Kind::Number, about: "" },
        Parameter { name: "all", kind: Kind::Flag, about: "" },
    ];

    #[test]
    fn a_query_is_read_and_what_is_wrong_is_named() {
        let query = Query::parse("text=a%20b+c%C3%A4&limit=7&", KNOWN).unwrap();
        assert_eq!(query.text("text"), Some("a b cä"));
        assert_eq!((query.get("limit"), query.get::<u64>("after")), (Ok(Some(7)), Ok(None)));
        for (text, named) in [
            ("colour=red", "colour"),
            ("text=1&text=2", "text"),
            ("text=%zz", "text"),
            ("text=%ff", "text"),
            ("text=%a", "text"),
            (&format!("text={}", "x".repeat(VALUE_BYTES_MAX + 1)), "text"),
            ("limit=11", "limit"),
            ("limit=x", "limit"),
            ("limit=", "limit"),
            ("after=-1", "after"),
            ("after=18446744073709551616", "after"),
            ("all=perhaps", "all"),
        ] {
            let problem = Query::parse(text, KNOWN).unwrap_err();
            assert_eq!(problem.details["fields"][0]["field"], named, "{text}");
        }
        let said =
            |text: &str| Query::parse(text, KNOWN).unwrap_err().to_json()["error"]["message"].to_string();
        assert!(said("limit=11").contains("must be at most 10"));
        assert!(said("limit=x").contains("must be a whole number"));
        assert!(said("after=18446744073709551616").contains("is too large a number"));
    }
}
