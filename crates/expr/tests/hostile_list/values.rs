//! Values that hold one value many times over, and comparisons of much.

use regatta_expr::Limit;

use super::End::{Answer, AnyLimit};
use super::{Case, Input, case, limit};

/// One long text many times over: it takes no room until it is looked at, and then each look goes through all of it.
pub(super) fn long_texts() -> Vec<Case> {
    let shared = |use_of: &str| {
        format!("($s := $pad(\"\", 1000000); $l := $map([1..2000], function($i){{ $s }}); {use_of})")
    };
    let hidden = |use_of: &str| {
        format!(
            "($s := $pad(\"\", 1000000); $l := $map([1..2000], function($i){{ $i < 600 ? \"\" : $s }}); {use_of})"
        )
    };
    let listed = |use_of: &str| {
        let list = vec!["$s"; 2_000].join(",");
        format!("($s := $pad(\"\", 1000000); $l := [{list}]; {use_of})")
    };
    let few = |use_of: &str| {
        format!("($s := $pad(\"\", 900000); $l := [$s, $s, $s]; $map([1..9999], function($i){{ {use_of} }}))")
    };
    let long = |name: &str, text: String| Case { input: Input::LongText, ..case(name, text, AnyLimit) };
    vec![
        case("a long text in a list", shared("$count($l)"), AnyLimit),
        case("a long text in a list, compared", shared("$l = $l"), AnyLimit),
        case("a long text in a list, joined", shared("$join($l)"), AnyLimit),
        case("a long text in a list, as text", shared("$string($l)"), AnyLimit),
        case("a long text in a list, returned", shared("$l"), AnyLimit),
        case("a long text in a list, distinct", shared("$distinct($l)"), AnyLimit),
        case("a long text behind short ones", hidden("$l = $l"), AnyLimit),
        case(
            "a long name of a field",
            "($o := {$pad(\"\", 1000000): 1}; $map([1..2000], function($i){ $o }))",
            AnyLimit,
        ),
        limit("a long text in an array", listed("$l"), Limit::Memory),
        limit("a long text in an array, compared", listed("$l = $l"), Limit::Memory),
        limit(
            "a long text in an object",
            "($s := $pad(\"\", 1000000); {\"a\": $s, \"b\": $s, \"c\": [$s, $s, $s]})",
            Limit::Memory,
        ),
        case("long texts, compared over and over", few("$l = [$s, $s, $s]"), AnyLimit),
        case("long texts, looked for over and over", few("\"x\" in $l"), AnyLimit),
        case("long texts, as text over and over", few("$length($string($l))"), AnyLimit),
        long("a long text of the input in a list", "$map([1..2000], function($i){ $$.s })".to_owned()),
        long("a long text of the input by a path", "($a := [1..2000]; $a.$$.s = $a.$$.s)".to_owned()),
        Case { end: Answer, ..long("a long text of the input, once", "$length($uppercase(s))".to_owned()) },
    ]
}

/// Values that hold one value many times over.
pub(super) fn sharing() -> Vec<Case> {
    let doubled = |times: usize, use_of: &str| {
        format!("($a := [[0],[1]]; {} {use_of})", "$a := [[$a],[$a]]; ".repeat(times))
    };
    let doubled_object = |times: usize, use_of: &str| {
        format!("($a := {{\"x\": 0}}; {} {use_of})", "$a := {\"x\": $a, \"y\": $a}; ".repeat(times))
    };
    vec![
        case("doubled arrays, tested", doubled(60, "$boolean($a)"), AnyLimit),
        case("doubled arrays, in a condition", doubled(60, "$a ? 1 : 2"), AnyLimit),
        case("doubled arrays, as text", doubled(60, "$string($a)"), AnyLimit),
        case("doubled arrays, returned", doubled(60, "$a"), AnyLimit),
        case(
            "doubled arrays, compared",
            doubled(60, "$b := [[$a],[$a]]; $c := [[$a],[$a]]; $b = $c"),
            AnyLimit,
        ),
        case("doubled arrays, looked through", doubled(60, "$lookup($a, \"x\")"), AnyLimit),
        case("doubled arrays, flattened", doubled(60, "$a.**"), AnyLimit),
        case("doubled arrays, spread", doubled(60, "$spread($a)"), AnyLimit),
        case("doubled objects, as text", doubled_object(60, "$string($a)"), AnyLimit),
        case("doubled objects, descended", doubled_object(60, "$count($a.**)"), AnyLimit),
        case("doubled objects, cloned", doubled_object(60, "$clone($a)"), AnyLimit),
        case("doubled objects, transformed", doubled_object(60, "$a ~> |**|{\"z\": 1}|"), AnyLimit),
        case(
            "one array in ten thousand",
            "($a := [1..10000]; $o := {\"x\": $a}; $l := $map([1..10000], function($i){ $o }); $lookup($l, \"x\"))",
            AnyLimit,
        ),
        case(
            "one array in ten thousand, by a path",
            "($a := [1..10000]; $o := {\"x\": $a}; $l := $map([1..10000], function($i){ $o }); $l.x)",
            AnyLimit,
        ),
        case(
            "one array in ten thousand, one level down",
            "($a := [1..10000]; $o := {\"x\": $a}; $l := [$map([1..10000], function($i){ $o })]; [[$l]].x)",
            AnyLimit,
        ),
        case(
            "one object in ten thousand, spread",
            "($o := $merge($map([1..1000], function($i){ {$string($i): 1} })); $l := $map([1..10000], function($i){ $o }); $spread($l))",
            AnyLimit,
        ),
    ]
}

/// Comparisons of much, or of each with each other.
pub(super) fn comparing() -> Vec<Case> {
    let lists = |text: &str, which: Limit| Case { input: Input::Lists, ..limit(text, text, which) };
    let hidden = |first: &str, times: usize, use_of: &str| {
        let double = |name: &str| format!("{name} := {{{first}\"x\": {name}, \"y\": {name}}}; ");
        let both = double("$a") + &double("$b");
        format!("($a := {{\"x\": 0}}; $b := {{\"x\": 0}}; {} {use_of})", both.repeat(times))
    };
    vec![
        limit(
            "distinct of wide objects",
            "$distinct([1..9999].{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"z\":$})",
            Limit::Steps,
        ),
        limit(
            "distinct of wide objects behind a small item",
            "$distinct($append(0, [1..9998].{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"z\":$}))",
            Limit::Steps,
        ),
        case("doubled objects behind a scalar, compared", hidden("\"k\": 1, ", 60, "$a = $b"), AnyLimit),
        case(
            "doubled objects behind many scalars, compared",
            hidden("\"k\": 1, \"l\": 1, \"m\": 1, \"n\": 1, \"o\": 1, \"p\": 1, ", 60, "$a != $b"),
            AnyLimit,
        ),
        case(
            "doubled objects behind a scalar, made distinct",
            hidden("\"k\": 1, ", 60, "$distinct([$a, $b])"),
            AnyLimit,
        ),
        lists("($j := $join(s); a[$j < $j])", Limit::Steps),
        lists("a[$$.m.* = 1]", Limit::Steps),
        lists("a[$ in $$.a]", Limit::Steps),
        lists("$count(a.($count($$.m.*) = 1))", Limit::Steps),
        lists("a[$sum($$.a) = 1]", Limit::Steps),
        lists("$keys(named)", Limit::Steps),
        lists("$map([1..500], function($i){ $keys($$.m) })", Limit::Steps),
        lists("$map([1..500], function($i){ $sort($$.a) })", Limit::Items),
        lists("$map([1..500], function($i){ $reverse($$.s) })", Limit::Items),
    ]
}

/// Arrays that hold themselves twice behind a small item, in whatever looks at an array.
pub(super) fn hidden_doubles() -> Vec<Case> {
    let doubles = "$a := [1, [$a], [$a]]; ".repeat(40);
    [
        "$boolean($a)",
        "$a ? 1 : 2",
        "$lookup($a, \"x\")",
        "$count($a.x)",
        "$spread($a)",
        "$a and true",
        "$keys($a)",
        "$a[x = 1]",
        "$sum($a)",
        "$a < 1",
        "$a - 1",
        "$merge($a)",
        "$exists($a.b.c)",
        "[$a].x",
        "$filter($a, function($x){ $x })",
        "$each($a, function($x){ $x })",
        "$join($a)",
        "$not($a)",
        "$error($a)",
        "$number($a)",
        "$a^(x)",
        "$distinct($a)",
        "($b := [1, [$a], [$a]]; $a = $b)",
    ]
    .into_iter()
    .map(|look| {
        limit(
            &format!("doubled behind a small item: {look}"),
            format!("($a := [1, 0]; {doubles} {look})"),
            Limit::Values,
        )
    })
    .chain([limit(
        "doubled by a function",
        "$reduce([1..60], function($a, $i){ {\"n\": 1, \"x\": $a, \"y\": $a} }) - 1",
        Limit::Values,
    )])
    .collect()
}
