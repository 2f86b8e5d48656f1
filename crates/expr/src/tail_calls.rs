//! Makes the results of built-in functions visible where the engine would hide them.
//!
//! A call at the end of a function's body is not evaluated as a node: the engine runs it in a loop, so that functions
//! can recurse without using the stack. The result of a built-in function there is never traced, and `$map(xs,
//! function($x){ $pad($x, 1e6) })` would build strings that nobody counts. Such a call gets a fallback that is never
//! used, `($pad($x, 1e6) ?? ())`, and is an ordinary node again. Calls of the expression's own functions are left
//! alone. Positions are mapped back, so that a fault points into the original text.

use jlens_core::{Ast, NodeKind};

use crate::fault::Span;
use crate::hazards::{self, Names};

const BEFORE: &str = "(";
const AFTER: &str = " ?? ())";

/// Where text was put in, by its place in the text before.
#[derive(Debug, Clone, Default)]
pub(crate) struct Insertions {
    places: Vec<(usize, &'static str)>,
}

impl Insertions {
    /// Finds the calls of built-in functions at the ends of bodies.
    pub(crate) fn find(ast: &Ast, names: &Names) -> Insertions {
        let mut places = Vec::new();
        hazards::visit(&ast.root, |node| {
            let NodeKind::Lambda(def) = &node.kind else { return };
            if def.thunk && names.find_builtin_called(&def.body).is_some() {
                places.push((def.body.span.start, BEFORE));
                places.push((def.body.span.end, AFTER));
            }
        });
        places.sort_by_key(|(at, _)| *at);
        Insertions { places }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the text with the insertions made.
    pub(crate) fn apply(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + self.places.len() * AFTER.len());
        let mut from = 0;
        for (at, inserted) in &self.places {
            out.push_str(&text[from..*at]);
            out.push_str(inserted);
            from = *at;
        }
        out.push_str(&text[from..]);
        out
    }

    /// Returns a span of the text with the insertions as one of the text before.
    pub(crate) fn map_back(&self, span: Span) -> Span {
        Span { start: self.position_before(span.start), end: self.position_before(span.end) }
    }

    fn position_before(&self, position: usize) -> usize {
        let mut inserted_bytes = 0;
        for (at, inserted) in &self.places {
            let begin = at + inserted_bytes;
            if position <= begin {
                break;
            }
            inserted_bytes += inserted.len().min(position - begin);
        }
        position - inserted_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insertions(text: &str) -> Insertions {
        let ast = jlens_core::parse(text).expect("an expression");
        Insertions::find(&ast, &Names::of(&ast))
    }

    #[test]
    fn calls_of_built_in_functions_at_the_end_of_a_body_become_visible() {
        let text = "$map(a, function($x){ $x ? $pad($x, 5) : (1; $trim($x)) })";
        let seen = "$map(a, function($x){ $x ? ($pad($x, 5) ?? ()) : (1; ($trim($x) ?? ())) })";
        assert_eq!(insertions(text).apply(text), seen);
    }

    #[test]
    fn calls_of_own_functions_stay_tail_calls() {
        assert!(insertions("($f := function($n){ $f($n + 1) }; $f(0))").is_empty());
        assert!(insertions("($trim := function($n){ $trim($n) }; $trim(0))").is_empty());
    }

    #[test]
    fn positions_are_mapped_back() {
        let text = "$map(é, function($x){ $pad($x, 5) })";
        let insertions = insertions(text);
        let seen = insertions.apply(text);
        for word in ["é", "$pad", "$x, 5", ", 5)", "})"] {
            let (at, before) = (seen.find(word).expect("there"), text.find(word).expect("there"));
            let span = insertions.map_back(Span { start: at, end: at + word.len() });
            assert_eq!(span, Span { start: before, end: before + word.len() }, "{word}");
        }
    }
}
