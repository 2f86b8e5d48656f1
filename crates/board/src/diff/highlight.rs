//! Colours of code in six classes, found by syntect's grammars.
//!
//! A file, a line or the time it takes may be beyond all measure; what is past a limit stays plain.

use super::words::cut;
use std::collections::HashMap;
use std::ops::Range;
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

/// Larger files are generated, and take seconds.
const FILE_BYTES_MAX: usize = 512 * 1024;
/// A longer line is data; some grammars take time that grows with its square.
const LINE_BYTES_MAX: usize = 1_000;
/// How many lines are parsed between two looks at the clock.
const LINES_BETWEEN_LOOKS: usize = 16;
/// Deeper nesting is made up.
const SCOPES_MAX: usize = 64;

/// What a piece of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Class {
    Keyword,
    Type,
    String,
    Number,
    Comment,
    Function,
}

/// A piece of a line that has a class, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Where it is.
    pub range: Range<usize>,
    /// What it is.
    pub class: Class,
}

/// The colours of the lines of a text, from its first to the last that was reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Highlighted {
    lines: Vec<Vec<Span>>,
}

/// The grammars. Making one takes some time; it is kept.
pub struct Highlighter {
    syntaxes: SyntaxSet,
}

impl Class {
    /// Returns its name in the style sheet.
    pub fn as_str(self) -> &'static str {
        match self {
            Class::Keyword => "kw",
            Class::Type => "ty",
            Class::String => "st",
            Class::Number => "nu",
            Class::Comment => "co",
            Class::Function => "fn",
        }
    }
}

impl Highlighted {
    /// Returns the colours of a line, by its number from 1.
    pub fn line(&self, number: Option<u32>) -> &[Span] {
        let place = number.and_then(|number| (number as usize).checked_sub(1));
        place.and_then(|place| self.lines.get(place)).map_or(&[], Vec::as_slice)
    }
}

impl Default for Highlighter {
    fn default() -> Self {
        Highlighter { syntaxes: two_face::syntax::extra_newlines() }
    }
}

impl std::fmt::Debug for Highlighter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Highlighter").finish_non_exhaustive()
    }
}

impl Highlighter {
    /// Finds the colours of a text up to a line, as long as there is time.
    pub fn highlight(
        &self,
        path: &str,
        text: &str,
        last_line: u32,
        has_time: &mut dyn FnMut() -> bool,
    ) -> Highlighted {
        let mut found = Highlighted::default();
        let Some(syntax) = self.find_syntax(path, text).filter(|_| text.len() <= FILE_BYTES_MAX) else {
            return found;
        };
        let mut state = ParseState::new(syntax);
        let mut stack = ScopeStack::new();
        let mut classes = HashMap::new();
        for (number, line) in text.split_inclusive('\n').take(last_line as usize).enumerate() {
            if number % LINES_BETWEEN_LOOKS == 0 && !has_time() {
                break;
            }
            let spans = match line.len() <= LINE_BYTES_MAX {
                true => self.highlight_line(line, &mut state, &mut stack, &mut classes),
                false => Some(Vec::new()),
            };
            let Some(spans) = spans else { break };
            found.lines.push(spans);
        }
        found
    }

    fn find_syntax(&self, path: &str, text: &str) -> Option<&SyntaxReference> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.').map_or(name, |(_, extension)| extension);
        let by_name = self.syntaxes.find_syntax_by_extension(name);
        let by_extension = || self.syntaxes.find_syntax_by_extension(extension);
        let by_text =
            || self.syntaxes.find_syntax_by_first_line(cut(text, 200).lines().next().unwrap_or_default());
        by_name.or_else(by_extension).or_else(by_text).filter(|syntax| syntax.name != "Plain Text")
    }

    /// Returns the spans of a line; nothing when the grammar gives up.
    fn highlight_line(
        &self,
        line: &str,
        state: &mut ParseState,
        stack: &mut ScopeStack,
        classes: &mut HashMap<Scope, Verdict>,
    ) -> Option<Vec<Span>> {
        let ops = state.parse_line(line, &self.syntaxes).ok()?;
        let text = line.trim_end_matches(['\n', '\r']);
        let mut spans: Vec<Span> = Vec::new();
        let mut at = 0;
        let mut push = |range: Range<usize>, stack: &ScopeStack| {
            let range = range.start.min(text.len())..range.end.min(text.len());
            if range.is_empty() || !text.is_char_boundary(range.start) || !text.is_char_boundary(range.end) {
                return;
            }
            let Some(class) = judge(stack, &text[range.clone()], classes) else { return };
            match spans.last_mut() {
                Some(last) if last.class == class && last.range.end == range.start => {
                    last.range.end = range.end
                }
                _ => spans.push(Span { range, class }),
            }
        };
        for (place, op) in &ops {
            push(at..*place, stack);
            at = *place;
            stack.apply(op).ok()?;
            if stack.len() > SCOPES_MAX {
                return None;
            }
        }
        push(at..line.len(), stack);
        Some(spans)
    }
}

/// What a scope says of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Is(Class),
    /// It has no colour, whatever is around it.
    Plain,
    /// What is around it decides.
    Silent,
}

/// The innermost scope that says something decides.
fn judge(stack: &ScopeStack, text: &str, classes: &mut HashMap<Scope, Verdict>) -> Option<Class> {
    if text.trim().is_empty() {
        return None;
    }
    for scope in stack.as_slice().iter().rev() {
        let verdict = *classes.entry(*scope).or_insert_with(|| judge_scope(&scope.build_string()));
        match verdict {
            // An operator is a keyword only where it is a word.
            Verdict::Is(Class::Keyword) if !text.contains(char::is_alphanumeric) => return None,
            Verdict::Is(class) => return Some(class),
            Verdict::Plain => return None,
            Verdict::Silent => {}
        }
    }
    None
}

fn judge_scope(scope: &str) -> Verdict {
    /// The first that fits decides, so the special come before the general.
    const TABLE: [(&str, Verdict); 37] = [
        ("comment", Verdict::Is(Class::Comment)),
        ("punctuation.definition.comment", Verdict::Is(Class::Comment)),
        ("punctuation.definition.string", Verdict::Is(Class::String)),
        ("punctuation.definition.raw", Verdict::Is(Class::String)),
        ("string.unquoted", Verdict::Silent),
        ("string", Verdict::Is(Class::String)),
        ("markup.raw", Verdict::Is(Class::String)),
        ("markup.heading", Verdict::Is(Class::Keyword)),
        ("constant.character", Verdict::Is(Class::String)),
        ("constant.other.placeholder", Verdict::Is(Class::String)),
        ("constant.other.color", Verdict::Is(Class::Number)),
        ("constant.numeric", Verdict::Is(Class::Number)),
        ("constant.language", Verdict::Is(Class::Number)),
        ("constant", Verdict::Is(Class::Type)),
        ("entity.name.function", Verdict::Is(Class::Function)),
        ("support.function", Verdict::Is(Class::Function)),
        ("support.macro", Verdict::Is(Class::Function)),
        ("variable.function", Verdict::Is(Class::Function)),
        ("entity.name.macro", Verdict::Is(Class::Function)),
        ("entity.name.tag", Verdict::Is(Class::Keyword)),
        ("entity.name.section", Verdict::Is(Class::Keyword)),
        ("entity.other.attribute-name", Verdict::Is(Class::Function)),
        ("entity.name", Verdict::Is(Class::Type)),
        ("entity.other.inherited-class", Verdict::Is(Class::Type)),
        ("support.type.property-name", Verdict::Is(Class::Function)),
        ("support.constant", Verdict::Is(Class::Number)),
        ("support.class", Verdict::Is(Class::Type)),
        ("support.type", Verdict::Is(Class::Type)),
        ("storage.type.numeric", Verdict::Is(Class::Number)),
        ("storage.type.primitive", Verdict::Is(Class::Type)),
        ("storage", Verdict::Is(Class::Keyword)),
        ("variable.language", Verdict::Is(Class::Keyword)),
        ("variable", Verdict::Plain),
        ("keyword", Verdict::Is(Class::Keyword)),
        ("punctuation.section.interpolation", Verdict::Plain),
        ("meta.interpolation", Verdict::Plain),
        ("meta.template.expression", Verdict::Plain),
    ];
    let fits = |prefix: &str| {
        scope.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    TABLE.iter().find(|(prefix, _)| fits(prefix)).map_or(Verdict::Silent, |(_, verdict)| *verdict)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn show(highlighter: &Highlighter, path: &str, text: &str) -> String {
        let found = highlighter.highlight(path, text, 100, &mut || true);
        let mut shown = String::new();
        for (line, number) in text.lines().zip(1..) {
            let mut at = 0;
            for Span { range, class } in found.line(Some(number)) {
                shown += &format!("{}{}({})", &line[at..range.start], class.as_str(), &line[range.clone()]);
                at = range.end;
            }
            shown += &format!("{}\n", &line[at..]);
        }
        shown
    }

    #[test]
    fn code_has_six_classes_and_limits() {
        let highlighter = Highlighter::default();
        let shown = [
            show(
                &highlighter,
                "a.rs",
                "/// Doc.\npub fn a(x: &Map) -> Option<u8> {\n    let s = \"é\\n\"; // x\n    b(12, s)\n}\n",
            ),
            show(&highlighter, "a.py", "def a(x):\n    return f(\"s\") if None else 1\n"),
            show(&highlighter, "Makefile", "all: # x\n\techo 1\n"),
            show(&highlighter, "a.json", "{\"a\": [1, true, \"x\"]}\n"),
            show(&highlighter, "script", "#!/bin/sh\nif true; then echo hi; fi\n"),
            show(&highlighter, "a.unknown", "fn a() { 1 }\n"),
        ];
        expect![[r#"
            co(/// Doc.)
            kw(pub) kw(fn) fn(a)(x: &Map) -> ty(Option)<kw(u8)> {
                kw(let) s = st("é\n"); co(// x)
                fn(b)(nu(12), s)
            }
            --
            kw(def) fn(a)(x):
                kw(return) fn(f)(st("s")) kw(if) nu(None) kw(else) nu(1)
            --
            fn(all): co(# x)
            	fn(echo) 1
            --
            {st("a"): [nu(1), nu(true), st("x")]}
            --
            co(#!/bin/sh)
            kw(if) fn(true); kw(then) fn(echo) hi; kw(fi)
            --
            fn a() { 1 }
        "#]]
        .assert_eq(&shown.join("--\n"));

        let count = |text: &str, has_time: &mut dyn FnMut() -> bool| {
            highlighter.highlight("a.rs", text, u32::MAX, has_time).lines.len()
        };
        let many = "let a = 1;\n".repeat(1_000);
        assert_eq!(count(&many, &mut || true), 1_000);
        let mut looks = 0;
        let few = count(&many, &mut || {
            looks += 1;
            looks <= 2
        });
        assert_eq!(few, 2 * LINES_BETWEEN_LOOKS, "time is over");
        assert_eq!(count(&"x".repeat(FILE_BYTES_MAX + 1), &mut || true), 0, "the file is too large");
        let long = format!("let a = 1;\nlet b = \"{}\";\nlet c = 2;\n", "x".repeat(LINE_BYTES_MAX));
        let found = highlighter.highlight("a.rs", &long, 9, &mut || true);
        assert_eq!([1, 2, 3].map(|line| found.line(Some(line)).is_empty()), [false, true, false]);
        assert!(
            found.line(None).is_empty() && found.line(Some(0)).is_empty() && found.line(Some(4)).is_empty()
        );
    }
}
