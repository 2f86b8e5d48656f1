//! What can be said of an expression without a state: whether it is a constant or a path of names.

use regatta_expr::{Condition, Expression as Compiled, Limits, Operand};
use serde_json::Value;

/// Returns the value of an expression that is the same for every state.
pub(super) fn constant(compiled: &Compiled) -> Option<Value> {
    if !compiled.is_constant() {
        return None;
    }
    compiled.evaluate_alone(&[], &Limits::at(0)).ok().flatten()
}

/// Returns the names of an expression that is a path of names and nothing else.
pub(super) fn plain_path(compiled: &Compiled) -> Option<Vec<String>> {
    match compiled.condition() {
        Condition::Truth(Operand::Path(path)) if !path[0].starts_with('$') => Some(path),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_names_and_nothing_else() {
        let path = |text| plain_path(&Compiled::compile(text).unwrap()).map(|names| names.join("/"));
        assert_eq!(path(" a.b_1 . c ").as_deref(), Some("a/b_1/c"));
        for other in ["a[0]", "$a", "'a'", "null", "1", "a.$b", "a{b: c}", "a^(b)"] {
            assert_eq!(path(other), None, "{other}");
        }
    }
}
