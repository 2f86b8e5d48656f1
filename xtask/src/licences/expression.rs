//! Licence expressions (`MIT OR Apache-2.0`), as far as crates use them.
//!
//! `AND` binds tighter than `OR`; `WITH` belongs to the licence before it; `/` is the old way to write `OR`.

/// A licence expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expression {
    /// One licence, with its exception if it has one.
    Licence(String),
    /// All of these hold.
    All(Vec<Expression>),
    /// One of these may be chosen.
    Any(Vec<Expression>),
}

impl Expression {
    /// Parses an expression; returns nothing when it is not one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let spaced = text.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let mut rest = &words[..];
        let expression = parse_any(&mut rest)?;
        rest.is_empty().then_some(expression)
    }

    /// Tells whether one can keep to it with these licences alone.
    pub(crate) fn is_allowed(&self, allowed: &[&str]) -> bool {
        match self {
            Expression::Licence(name) => allowed.contains(&name.as_str()),
            Expression::All(parts) => parts.iter().all(|part| part.is_allowed(allowed)),
            Expression::Any(parts) => parts.iter().any(|part| part.is_allowed(allowed)),
        }
    }
}

fn parse_any(rest: &mut &[&str]) -> Option<Expression> {
    let mut parts = vec![parse_all(rest)?];
    while take(rest, "OR") {
        parts.push(parse_all(rest)?);
    }
    Some(if parts.len() == 1 { parts.remove(0) } else { Expression::Any(parts) })
}

fn parse_all(rest: &mut &[&str]) -> Option<Expression> {
    let mut parts = vec![parse_one(rest)?];
    while take(rest, "AND") {
        parts.push(parse_one(rest)?);
    }
    Some(if parts.len() == 1 { parts.remove(0) } else { Expression::All(parts) })
}

fn parse_one(rest: &mut &[&str]) -> Option<Expression> {
    if take(rest, "(") {
        let inner = parse_any(rest)?;
        return take(rest, ")").then_some(inner);
    }
    let name = parse_name(rest)?;
    if take(rest, "WITH") {
        let exception = parse_name(rest)?;
        return Some(Expression::Licence(format!("{name} WITH {exception}")));
    }
    Some(Expression::Licence(name))
}

fn parse_name(rest: &mut &[&str]) -> Option<String> {
    let (word, after) = rest.split_first()?;
    if matches!(*word, "AND" | "OR" | "WITH" | "(" | ")") {
        return None;
    }
    *rest = after;
    Some((*word).to_owned())
}

fn take(rest: &mut &[&str], word: &str) -> bool {
    match rest.split_first() {
        Some((first, after)) if *first == word => {
            *rest = after;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(text: &str) -> Option<bool> {
        Some(Expression::parse(text)?.is_allowed(&["MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"]))
    }

    #[test]
    fn one_of_several_is_enough_and_all_of_several_are_needed() {
        assert_eq!(allowed("MIT"), Some(true));
        assert_eq!(allowed("GPL-3.0"), Some(false));
        assert_eq!(allowed("GPL-3.0 OR MIT"), Some(true));
        assert_eq!(allowed("GPL-3.0/MIT"), Some(true));
        assert_eq!(allowed("MIT AND GPL-3.0"), Some(false));
        assert_eq!(allowed("(MIT OR GPL-3.0) AND Unicode-3.0"), Some(true));
        assert_eq!(allowed("(MIT OR GPL-3.0) AND GPL-2.0"), Some(false));
        assert_eq!(allowed("GPL-3.0 AND GPL-2.0 OR MIT"), Some(true));
    }

    #[test]
    fn an_exception_belongs_to_its_licence() {
        assert_eq!(allowed("Apache-2.0 WITH LLVM-exception"), Some(true));
        assert_eq!(allowed("Apache-2.0"), Some(false));
        assert_eq!(allowed("MIT WITH LLVM-exception"), Some(false));
    }

    #[test]
    fn what_is_not_an_expression_is_not_guessed() {
        for bad in ["", "MIT OR", "AND MIT", "(MIT", "MIT)", "MIT Apache-2.0", "MIT WITH"] {
            assert_eq!(allowed(bad), None, "{bad:?}");
        }
    }
}
