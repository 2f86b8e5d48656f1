//! Refuses JSON in which a key appears twice in one object: of the two, one would be read and nobody would know which.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Returns the fault of a text of JSON in which a key stands twice, with its line and column.
pub(super) fn find_repeated_key(text: &str) -> Option<serde_json::Error> {
    serde_json::from_str::<Unique>(text).err()
}

/// A value in whose objects every key stands once.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Unique, D::Error> {
        deserializer.deserialize_any(Unique)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Unique;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Unique, A::Error> {
        while items.next_element::<Unique>()?.is_some() {}
        Ok(Unique)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Unique, A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = fields.next_key::<String>()? {
            if keys.contains(&key) {
                return Err(A::Error::custom(format!("the key `{key}` appears twice in one object")));
            }
            fields.next_value::<Unique>()?;
            keys.insert(key);
        }
        Ok(Unique)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stands_once_in_an_object() {
        for fine in [r#"{"a":{"a":1},"b":[{"a":null},{"a":-1.5}],"c":"a"}"#, "[]", "true"] {
            assert!(find_repeated_key(fine).is_none(), "{fine}");
        }
        let fault = find_repeated_key("{\"a\": 1,\n \"b\": [{\"c\": 1, \"c\": 2}]}").unwrap();
        assert!(fault.to_string().contains("`c` appears twice"), "{fault}");
        assert_eq!(fault.line(), 2);
    }
}
