//! What a prompt may contain: paths, conditions, loops and filters.
//!
//! A template comes with a repository, so nothing guarantees that it ends or fits into memory. The template engine
//! counts instructions but not the data they handle. So nothing here lets a text grow out of itself: no variables, no
//! recursion, no repetition, loops only over inputs, and few parts joined in one place. Anything else is computed by
//! the expressions of the node's `input`, which have limits on everything.

use std::ops::Range;

use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, ForLoop, Spanned, Stmt};
use minijinja::machinery::{Span, parse};
use minijinja::syntax::SyntaxConfig;

/// The most parts that one tag joins, each of which may be a long text.
pub(crate) const PARTS_MAX: usize = 16;

/// Something that a prompt may not say, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misuse {
    pub(crate) bytes: Range<usize>,
    pub(crate) message: String,
}

/// Finds what a template may not say; one that cannot be read says nothing.
pub(crate) fn find_misuses(template: &str) -> Vec<Misuse> {
    let Ok(root) = parse(template, "prompt", SyntaxConfig::default()) else { return Vec::new() };
    let mut search = Search { found: Vec::new(), parts: 0 };
    search.statement(&root);
    search.found
}

struct Search {
    found: Vec<Misuse>,
    /// The parts that are joined in the tag at hand.
    parts: usize,
}

impl Search {
    fn statement(&mut self, statement: &Stmt<'_>) {
        match statement {
            Stmt::Template(template) => self.all(&template.children),
            Stmt::EmitRaw(_) => {}
            Stmt::EmitExpr(emit) => self.tag(&emit.expr, emit.span()),
            Stmt::IfCond(condition) => {
                self.tag(&condition.expr, condition.span());
                self.all(&condition.true_body);
                self.all(&condition.false_body);
            }
            Stmt::ForLoop(each) => self.each(each),
            Stmt::Set(found) => self.refuse(found.span(), "`set` cannot be used in prompts"),
            Stmt::SetBlock(found) => self.refuse(found.span(), "`set` cannot be used in prompts"),
            Stmt::WithBlock(found) => self.refuse(found.span(), "`with` cannot be used in prompts"),
            Stmt::FilterBlock(found) => {
                self.refuse(found.span(), "a block of `filter` cannot be used in prompts")
            }
            Stmt::AutoEscape(found) => self.refuse(found.span(), "`autoescape` cannot be used in prompts"),
            Stmt::Do(found) => self.refuse(found.span(), "`do` cannot be used in prompts"),
        }
    }

    fn all(&mut self, statements: &[Stmt<'_>]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    fn each(&mut self, each: &Spanned<ForLoop<'_>>) {
        if each.recursive {
            self.refuse(each.span(), "a loop in a prompt cannot be `recursive`");
        }
        self.tag(&each.iter, each.span());
        if self.parts > 0 {
            self.refuse(
                each.span(),
                "a loop in a prompt must go over an input, not over a value that it builds",
            );
        }
        if let Some(condition) = &each.filter_expr {
            self.tag(condition, each.span());
        }
        self.all(&each.body);
        self.all(&each.else_body);
    }

    /// Looks at the expression of one tag, after which nothing is left of what it joined.
    fn tag(&mut self, expression: &Expr<'_>, span: Span) {
        self.parts = 0;
        self.expression(expression);
        if self.parts > PARTS_MAX {
            self.refuse(span, &format!("a tag of a prompt joins at most {PARTS_MAX} parts"));
        }
    }

    fn expression(&mut self, expression: &Expr<'_>) {
        match expression {
            Expr::Var(_) | Expr::Const(_) => {}
            Expr::GetAttr(found) => self.expression(&found.expr),
            Expr::GetItem(found) => self.both(&found.expr, &found.subscript_expr),
            Expr::Slice(found) => {
                self.expression(&found.expr);
                let ends = [&found.start, &found.stop, &found.step];
                ends.into_iter().flatten().for_each(|end| self.expression(end));
            }
            Expr::UnaryOp(found) => self.expression(&found.expr),
            Expr::BinOp(found) => {
                match found.op {
                    BinOpKind::Concat | BinOpKind::Add => self.parts += 2,
                    BinOpKind::Mul | BinOpKind::Pow => {
                        self.refuse(found.span(), "`*` cannot be used in prompts: it repeats strings");
                    }
                    _ => {}
                }
                self.both(&found.left, &found.right);
            }
            Expr::Compare(found) => {
                self.expression(&found.expr);
                found.ops.iter().for_each(|operand| self.expression(&operand.expr));
            }
            Expr::IfExpr(found) => {
                self.both(&found.test_expr, &found.true_expr);
                found.false_expr.iter().for_each(|other| self.expression(other));
            }
            Expr::Filter(found) => {
                found.expr.iter().for_each(|value| self.expression(value));
                self.arguments(&found.args);
            }
            Expr::Test(found) => {
                self.expression(&found.expr);
                self.arguments(&found.args);
            }
            Expr::Call(found) => {
                if !is_callable(&found.expr) {
                    self.refuse(
                        found.span(),
                        "a prompt can call only `range`, `loop.cycle` and `loop.changed`",
                    );
                }
                self.arguments(&found.args);
            }
            Expr::List(found) => self.literal(&found.items),
            Expr::Tuple(found) => self.literal(&found.items),
            Expr::Map(found) => {
                self.literal(&found.keys);
                self.literal(&found.values);
            }
        }
    }

    fn both(&mut self, one: &Expr<'_>, other: &Expr<'_>) {
        self.expression(one);
        self.expression(other);
    }

    /// A literal of fixed values is as long as it is written.
    fn literal(&mut self, items: &[Expr<'_>]) {
        self.parts += items.iter().filter(|item| !matches!(item, Expr::Const(_))).count();
        items.iter().for_each(|item| self.expression(item));
    }

    fn arguments(&mut self, arguments: &[CallArg<'_>]) {
        for argument in arguments {
            match argument {
                CallArg::Pos(value)
                | CallArg::Kwarg(_, value)
                | CallArg::PosSplat(value)
                | CallArg::KwargSplat(value) => self.expression(value),
            }
        }
    }

    fn refuse(&mut self, span: Span, message: &str) {
        let bytes = span.start_offset as usize..span.end_offset as usize;
        self.found.push(Misuse { bytes, message: message.to_owned() });
    }
}

fn is_callable(callee: &Expr<'_>) -> bool {
    match callee {
        Expr::Var(name) => name.id == "range",
        Expr::GetAttr(of) => {
            matches!(&of.expr, Expr::Var(name) if name.id == "loop") && matches!(of.name, "cycle" | "changed")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_says_and_does_not_compute() {
        for fine in [
            "{{ a }}{{ a.b[0].c }} {{ a ~ ' and ' ~ b }} {{ a[:3] }} {{ n + 1 }}",
            "{% for x in a %}{{ loop.index }} {{ x | upper }}{% else %}none{% endfor %}",
            "{% for x in range(3) %}{{ loop.cycle('a', 'b') }}{% endfor %}",
            "{% if a in ['x', 'y'] and not b is defined %}{{ a if b else [a, b] | join }}{% endif %}",
            "{% for k, v in a | items %}{{ k }}{% endfor %}",
            "{% raw %}{% set x = 1 %}{% endraw %}",
        ] {
            assert_eq!(find_misuses(fine), [], "{fine}");
        }
        for (bad, place) in [
            ("{% set s = s ~ s %}", "set s = s ~ s"),
            ("{% set s %}{{ s }}{{ s }}{% endset %}", "set s"),
            ("{% with s = a %}{{ s }}{% endwith %}", "with s = a"),
            ("{% filter upper %}a{% endfilter %}", "filter upper"),
            ("{% for x in a recursive %}{{ loop(x) }}{% endfor %}", "for x in a"),
            ("{% for x in [a, a] %}{{ x }}{% endfor %}", "for x in [a, a]"),
            ("{% for x in a ~ a %}{{ x }}{% endfor %}", "for x in a ~ a"),
            ("{{ a * 9 }}", "a * 9"),
            ("{{ namespace(a=1) }}", "namespace(a=1)"),
            ("{% do a() %}", "do a()"),
        ] {
            let found = find_misuses(bad);
            let first = &found.first().unwrap_or_else(|| panic!("{bad} passes")).bytes;
            assert!(bad[first.clone()].contains(place.trim()), "{bad}: {}", &bad[first.clone()]);
        }
        let many = format!("{{{{ a{} }}}}", " ~ a".repeat(PARTS_MAX));
        assert_eq!(find_misuses(&many).len(), 1);
    }
}
