//! The parameters after the `?` of an address: each known, and given at most once.

use crate::answer::invalid;
use crate::route::Parameter;
use regatta_engine::core::Problem;
use std::collections::BTreeMap;
use std::str::FromStr;

/// The longest value of a parameter, in bytes.
const VALUE_BYTES_MAX: usize = 2_000;

/// The parameters of one request.
#[derive(Debug, Default)]
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
        let read = |text: &str| {
            text.parse().map_err(|error: T::Err| invalid(name, format!("is wrong: {}", error.to_string())))
        };
        self.text(name).map(read).transpose()
    }

    /// Reads a parameter that is `true` or `false`; alone it is `true`.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Problem> {
        match self.text(name) {
            None | Some("false") => Ok(false),
            Some("true" | "") => Ok(true),
            Some(_) => Err(invalid(name, "must be true or false")),
        }
    }

    /// Reads a number within limits.
    pub(crate) fn number(&self, name: &str, default: u64, max: u64) -> Result<u64, Problem> {
        match self.get::<u64>(name)? {
            None => Ok(default),
            Some(number) if number <= max => Ok(number),
            Some(_) => Err(invalid(name, format!("must be at most {max}"))),
        }
    }
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
        Parameter { name: "limit", kind: Kind::Number, about: "" },
    ];

    #[test]
    fn a_query_is_read_and_what_is_wrong_is_named() {
        let query = Query::parse("text=a%20b+c%C3%A4&limit=7&", KNOWN).unwrap();
        assert_eq!(query.text("text"), Some("a b cä"));
        assert_eq!(query.number("limit", 1, 10), Ok(7));
        for (text, named) in [
            ("colour=red", "colour"),
            ("text=1&text=2", "text"),
            ("text=%zz", "text"),
            ("text=%ff", "text"),
            ("text=%a", "text"),
            (&format!("text={}", "x".repeat(VALUE_BYTES_MAX + 1)), "text"),
        ] {
            let problem = Query::parse(text, KNOWN).unwrap_err();
            assert_eq!(problem.details["fields"][0]["field"], named, "{text}");
        }
        let problem = Query::parse("limit=11", KNOWN).unwrap().number("limit", 1, 10).unwrap_err();
        assert!(problem.to_json().to_string().contains("at most 10"), "{problem:?}");
    }
}
