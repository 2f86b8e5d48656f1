//! Regular expressions that go back over and over, or remember much to do so.

use regatta_expr::Limit;

use super::End::{self, Answer, Any, AnyLimit};
use super::{Case, Input, case, limit};

/// Regular expressions that go back over and over.
pub(super) fn on_short_texts() -> Vec<Case> {
    let long = "$pad(\"\", 40, \"a\") & \"!\"";
    let steps = |text: String| limit(&text.clone(), text, Limit::Steps);
    vec![
        steps(format!("$match({long}, /^(a+)+$/)")),
        steps(format!("$match({long}, /^(a|aa)+$/)")),
        steps(format!("$match({long}, /^(a|a)*$/)")),
        steps(format!("$match({long}, /^(a*)*$/)")),
        steps(format!("$replace({long}, /^(a+)+$/, \"b\")")),
        steps(format!("$split({long}, /^(a+)+$/)")),
        steps(format!("$contains({long}, /^(a+)+$/)")),
        steps(format!("$contains({long}, /^([a-z]+)*\\1$/)")),
        case("many stars", format!("$contains({long}, /{}b/)", "a*".repeat(40)), AnyLimit),
        case(
            "a repetition of repetitions",
            format!("$contains({long}, /^((a{{1,100}}){{1,100}}){{1,100}}$/)"),
            Any,
        ),
        case("a huge repetition", "$contains(\"a\", /a{1000000000}/)", Any),
        case("nested huge repetitions", "$contains(\"a\", /((((a{1000}){1000}){1000}){1000})/)", Any),
        case(
            "a pattern that is deep",
            format!("$contains(\"a\", /{}a{}/)", "(".repeat(7_000), ")".repeat(7_000)),
            Any,
        ),
        case(
            "a pattern of alternatives",
            format!("$contains(\"a\", /{}b/)", "a|".repeat(7_000)),
            End::Limit(Limit::PatternSize),
        ),
        case(
            "look-ahead in look-ahead",
            format!("$contains({long}, /{}a{}/)", "(?=".repeat(3_000), ")".repeat(3_000)),
            Any,
        ),
        case("nothing, matched for ever", "$match(\"abc\", /x*/)", Any),
        case(
            "a matcher that never ends",
            "$match(\"a\", function($s){ {\"match\":\"a\",\"start\":0,\"end\":1,\"groups\":[],\"next\":function(){ {\"match\":\"a\",\"start\":0,\"end\":1,\"groups\":[]} }} })",
            Any,
        ),
        case(
            "dates that go back",
            format!("$toMillis(\"{}\", \"[Y][M][D][H][m][s]\")", "1".repeat(5_000)),
            Any,
        ),
    ]
}

/// Regular expressions that remember much to go back, or whose steps are long.
pub(super) fn on_long_texts() -> Vec<Case> {
    let ends = |text: &str, which: Limit| Case { input: Input::LongText, ..limit(text, text, which) };
    let mut all: Vec<Case> = [
        "((((((a))))))+?b",
        "(a|a)+b",
        "((a)|(a))+b",
        "(?=(a+))\\1b",
        "(a+)\\1b",
        "a{2000000}",
        "(?=a*b)",
        "(?<!a+)c",
    ]
    .iter()
    .map(|pattern| ends(&format!("$contains(s, /{pattern}/)"), Limit::StringSize))
    .collect();
    all.extend([
        limit(
            "a pattern on a text that is built",
            "$contains($pad(\"\", 1000000, \"a\"), /((((((a))))))+?b/)",
            Limit::StringSize,
        ),
        ends("$filter([s], /(a|a)+b/)", Limit::StringSize),
        ends("s ~> /((((((a))))))+?b/", Limit::StringSize),
        ends("/((((((a))))))+?b/(s)", Limit::StringSize),
        ends("($r := /((((((a))))))+?b/; $contains(s, $r))", Limit::StringSize),
        ends("$map([$pad(\"\", 1000000, \"a\")], /((((((a))))))+?b/)", Limit::StringSize),
        ends("$eval(\"$contains(s, /((((((a))))))+?b/)\")", Limit::PatternSize),
        ends("$contains(short, /((((((a?)))))){9999999}b/)", Limit::StringSize),
        ends("$contains(short, /((((((a?)))){999}){999}){999}b/)", Limit::StringSize),
        limit(
            "repeated alternatives, on the longest text for them",
            "$contains($pad(\"\", 83333, \"a\"), /(a|a)+b/)",
            Limit::Steps,
        ),
        limit(
            "repeated groups, on the longest text for them",
            "$contains($pad(\"\", 25000, \"a\"), /((((((a))))))+?b/)",
            Limit::Steps,
        ),
        ends("$contains(s, /a+b/)", Limit::Steps),
        ends("$contains(s, /[^b]*b/)", Limit::Steps),
        limit(
            "a back reference on a text that is not long",
            "$contains($pad(\"\", 1024, \"a\"), /(a+)(a+)\\2\\1b/)",
            Limit::Steps,
        ),
        Case { input: Input::LongText, ..case("a plain pattern", "$contains(s, /b$/)", Answer) },
    ]);
    all
}
