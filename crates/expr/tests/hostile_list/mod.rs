//! The list of hostile expressions, by what they attack.

mod patterns;
mod values;

use regatta_expr::Limit;
use serde_json::{Value, json};

/// One expression with what it must end with.
pub(crate) struct Case {
    /// What it attacks.
    pub(crate) name: String,
    /// Its text.
    pub(crate) text: String,
    /// What it is evaluated over.
    pub(crate) input: Input,
    /// How it must end.
    pub(crate) end: End,
}

/// What an expression is evaluated over. It is made when it is needed: all of them at once would be large.
pub(crate) enum Input {
    /// A few fields.
    Small,
    /// Arrays and objects inside each other.
    Deep,
    /// An array of more objects than may be built.
    Wide,
    /// Objects, not too many to look at all of them from each.
    Objects,
    /// Lists of ten thousand, and objects with many names between them.
    Lists,
    /// A text of a million bytes, all of them alike.
    LongText,
    /// A picture of more digits than the engine can write.
    Picture,
}

impl Input {
    /// Makes it.
    pub(crate) fn make(&self) -> Value {
        match self {
            Input::Small => json!({ "a": 1, "s": "x" }),
            Input::Deep => deep(450),
            Input::Lists => json!({
                "a": (0..10_000).collect::<Vec<_>>(),
                "m": (0..10_000).map(|n| (n.to_string(), json!(1))).collect::<serde_json::Map<_, _>>(),
                "s": vec!["x".repeat(100); 10_000],
                "named": (0..100).map(many_fields).collect::<Vec<_>>(),
            }),
            Input::Objects => {
                let object = |n| json!({ "k": format!("x{n}"), "v": n });
                json!({ "o": (0..2_000).map(object).collect::<Vec<_>>() })
            }
            Input::LongText => json!({ "s": "a".repeat(1_000_000), "short": "aaaa" }),
            Input::Picture => json!({ "picture": format!("0.{}", "0".repeat(65_536)) }),
            Input::Wide => {
                json!({ "items": (0..12_000).map(|n| json!({ "n": n, "t": [1, 2, 3] })).collect::<Vec<_>>() })
            }
        }
    }
}

fn many_fields(number: usize) -> Value {
    (0..300).map(|n| (format!("{number}-{n}"), json!(1))).collect::<serde_json::Map<_, _>>().into()
}

/// How an evaluation must end.
pub(crate) enum End {
    /// At this limit.
    Limit(Limit),
    /// At some counted limit.
    AnyLimit,
    /// With this code of JSONata.
    Fault(&'static str),
    /// With an answer.
    Answer,
    /// In any way but by the clock.
    Any,
}

use End::{Answer, Any, AnyLimit, Fault};

/// Returns all of them.
pub(crate) fn cases() -> Vec<Case> {
    let mut all = nesting();
    all.extend(recursion());
    all.extend(sizes());
    all.extend(values::sharing());
    all.extend(values::long_texts());
    all.extend(values::comparing());
    all.extend(values::hidden_doubles());
    all.extend(patterns::on_short_texts());
    all.extend(patterns::on_long_texts());
    all.extend(inputs());
    all
}

fn case(name: &str, text: impl Into<String>, end: End) -> Case {
    Case { name: name.to_owned(), text: text.into(), input: Input::Small, end }
}

fn limit(name: &str, text: impl Into<String>, which: Limit) -> Case {
    case(name, text, End::Limit(which))
}

/// Brackets and operators, as deep and as many as a text can hold.
fn nesting() -> Vec<Case> {
    let around = |open: &str, close: &str| format!("{}1{}", open.repeat(2_500), close.repeat(2_500));
    let chain = |operator: &str| vec!["a"; 2_500].join(operator);
    let mut all = vec![
        limit("parentheses", around("(", ")"), Limit::Nesting),
        limit("brackets", around("[", "]"), Limit::Nesting),
        limit("objects", format!("{}1{}", "{\"a\":".repeat(2_500), "}".repeat(2_500)), Limit::Nesting),
        limit("predicates", format!("a{}1{}", "[a".repeat(2_500), "]".repeat(2_500)), Limit::Nesting),
        limit("functions", format!("{}1{}", "function(){".repeat(1_300), "}".repeat(1_300)), Limit::Nesting),
        limit("calls", around("$f(", ")"), Limit::Nesting),
        limit("conditions", format!("{}1", "a?1:".repeat(2_500)), Limit::Nesting),
        limit("negations", format!("{}1", "-".repeat(5_000)), Limit::Nesting),
        limit("blocks", format!("{}1", "(1;".repeat(2_500)), Limit::Nesting),
        limit("transforms", format!("{}1", "|a|".repeat(2_500)), Limit::Nesting),
        limit("sorts", format!("a{}1{}", "^(a".repeat(2_500), ")".repeat(2_500)), Limit::Nesting),
        limit("open brackets alone", "[".repeat(16_000), Limit::Nesting),
        limit("open parentheses alone", "(".repeat(16_000), Limit::Nesting),
        limit("open braces alone", "{".repeat(16_000), Limit::Nesting),
        limit("a text that is too long", "a".repeat(16_385), Limit::ExpressionSize),
        case("as deep as may be", format!("{}1{}", "(".repeat(900), ")".repeat(900)), Answer),
        case("a name as long as may be", "a".repeat(16_384), Answer),
        case("a number as long as may be", "9".repeat(16_384), Fault("S0102")),
        case("a small number as long as may be", format!("0.{}", "1".repeat(16_000)), Any),
        case("a huge exponent", "1e999999999", Fault("S0102")),
        case("a string without an end", format!("\"{}", "a".repeat(16_000)), Fault("S0101")),
        case("a comment without an end", format!("/*{}", "*".repeat(16_000)), Fault("S0106")),
        case("many arguments", format!("$sum([{}])", vec!["1"; 8_000].join(",")), Any),
        case("many escapes", format!("\"{}\"", "\\u0041".repeat(2_500)), Answer),
    ];
    for operator in ["+", "-", "*", "/", "&", "=", "<", " and ", " or ", " in ", "~>", "??", "?:"] {
        all.push(case(&format!("a chain of {operator}"), chain(operator), End::Limit(Limit::Nesting)));
    }
    all.push(case("a chain of steps", chain("."), Any));
    all.push(case("a chain of wildcards", vec!["*"; 2_500].join("."), Any));
    all.push(case(
        "a chain of assignments",
        format!("{}1", "$a:=".repeat(2_500)),
        End::Limit(Limit::Nesting),
    ));
    all
}

/// Functions that call each other for ever.
fn recursion() -> Vec<Case> {
    vec![
        limit("recursion", "($f := function($n){ 1 + $f($n + 1) }; $f(0))", Limit::Depth),
        limit(
            "mutual recursion",
            "($f := function($n){ 1 + $g($n) }; $g := function($n){ 1 + $f($n) }; $f(0))",
            Limit::Depth,
        ),
        limit("tail recursion", "($f := function($n){ $f($n + 1) }; $f(0))", Limit::Steps),
        limit(
            "mutual tail recursion",
            "($f := function($n){ $g($n) }; $g := function($n){ $f($n) }; $f(0))",
            Limit::Steps,
        ),
        limit("recursion in a map", "($f := function($n){ $map([1,2], $f) }; $f(0))", Limit::Depth),
        limit("recursion in a sort", "($f := function($a,$b){ $sort([1,2], $f) }; $f(0,0))", Limit::Depth),
        limit("recursion in a filter", "($f := function($n){ [1,2][$f($n)] }; $f(0))", Limit::Depth),
        limit("recursion in an object", "($f := function($n){ {\"a\": $f($n)} }; $f(0))", Limit::Depth),
        limit("recursion in an array", "($f := function($n){ [$f($n)] }; $f(0))", Limit::Depth),
        limit("a fixed point without end", "(function($x){ $x($x) })(function($x){ $x($x) })", Limit::Steps),
        limit("eval of itself", "($t := \"$eval($t)\"; $eval($t))", Limit::Depth),
        case("an argument that grows", "($f := function($t){ $f(\"(\" & $t & \")\") }; $f(\"1\"))", AnyLimit),
        case("ackermann", ACKERMANN, AnyLimit),
        case("fibonacci", "($f := function($n){ $n < 2 ? $n : $f($n-1) + $f($n-2) }; $f(40))", AnyLimit),
        case(
            "a replacement that calls itself",
            "($f := function($m){ $replace(\"a\", /a/, $f) }; $f(0))",
            AnyLimit,
        ),
        case("a chain of itself", "($f := function($x){ $x }; $g := $f ~> $f; $g(1))", Answer),
    ]
}

const ACKERMANN: &str = "($a := function($m,$n){ $m = 0 ? $n + 1 : $n = 0 ? $a($m - 1, 1) : $a($m - 1, $a($m, $n - 1)) }; $a(4, 3))";

/// Values that are long, or many.
fn sizes() -> Vec<Case> {
    let range = |text: &str| limit(text, text, Limit::Items);
    let mut all: Vec<Case> = [
        "[1..1e9]",
        "[1..9999999]",
        "[1..10001]",
        "[-1e15..1e15]",
        "[1..1e300]",
        "[0..9999,1..2]",
        "($n := 9999999; [1..$n])",
        "[1..2, 3..1e7]",
        "$map([1..1e8], function($i){$i})",
        "[[1..1e7],[1..1e7]]",
        "$sum([1..1e7])",
        "$eval(\"[1..1e7]\")",
        "$count([1..1e6].[1..1e6])",
    ]
    .into_iter()
    .map(range)
    .collect();
    all.extend([
        case("nested ranges", "$map([1..1000], function($i){ [1..10000] })", AnyLimit),
        case(
            "nested ranges, deeper",
            "$map([1..100], function($i){ $map([1..100], function($j){ [1..10000] }) })",
            AnyLimit,
        ),
        case(
            "ranges kept alive",
            "($f := function($n){ ($a := [1..10000]; $count($a) + $f($n+1)) }; $f(0))",
            AnyLimit,
        ),
        case(
            "a reduction that appends",
            "$reduce([1..10000], function($a,$b){ $append($a,$b) }, [])",
            AnyLimit,
        ),
        case(
            "a reduction that doubles",
            "$reduce([1..100], function($a,$b){ $append($a,$a) }, [1])",
            AnyLimit,
        ),
        case("a string that doubles", "$reduce([1..100], function($a,$b){ $a & $a }, \"ab\")", AnyLimit),
        case(
            "a string that doubles by tail calls",
            "($f := function($s){ $f($s & $s) }; $f(\"ab\"))",
            AnyLimit,
        ),
        case("many long strings", "$map([1..10000], function($i){ $pad(\"\", 1000000) })", AnyLimit),
        case("a million characters", "$pad(\"\", 1000000)", Answer),
        case("ten million characters", "$pad(\"\", 10000000)", AnyLimit),
        case("pad to the moon", "$pad(\"x\", 1e15)", AnyLimit),
        case("pad to the moon, leftwards", "$pad(\"x\", -1e15, \"ab\")", AnyLimit),
        case(
            "join of long strings",
            "($s := $pad(\"\", 100000); $join($map([1..1000], function($i){ $s }), \",\"))",
            AnyLimit,
        ),
        case("join by a long string", "$join($map([1..10000], $string), $pad(\"\", 100000))", AnyLimit),
        case(
            "replace by a long string",
            "$replace($pad(\"\", 10000, \"a\"), \"a\", $pad(\"\", 10000))",
            AnyLimit,
        ),
        case("replace by a pattern", "$replace($pad(\"\", 10000, \"a\"), /a/, $pad(\"\", 10000))", AnyLimit),
        case("split into characters", "$split($pad(\"\", 1000000), \"\")", AnyLimit),
        case("split by a pattern", "$split($pad(\"\", 100000, \"ab\"), /a/)", AnyLimit),
        case("many matches", "$match($pad(\"\", 100000, \"a\"), /a/)", AnyLimit),
        case(
            "many matches, many times",
            "$map([1..1000], function($i){ $match($pad(\"\", 5000, \"a\"), /a/) })",
            AnyLimit,
        ),
        case("a million words", "$formatInteger(1e15, \"w\")", Any),
        case("a wide picture", "$formatNumber(1, $pad(\"\", 900000, \"0\"))", Any),
        case("a wide date", "$fromMillis(0, \"[Y,999999999]\")", Any),
        case(
            "base 64 over and over",
            "$reduce([1..100], function($a,$b){ $base64encode($a) }, \"abc\")",
            AnyLimit,
        ),
        case(
            "URL encoding over and over",
            "$reduce([1..100], function($a,$b){ $encodeUrlComponent($a) }, \"%%%\")",
            Answer,
        ),
        case("text of text", "$reduce([1..100], function($a,$b){ $string([$a]) }, \"\\\"\")", AnyLimit),
        case(
            "an object that grows",
            "$reduce([1..10000], function($a,$b){ $merge([$a, {$string($b): $b}]) }, {})",
            AnyLimit,
        ),
        case("grouping by many keys", "[1..10000]{ $string($): $ }", Any),
        case("the shuffle of many", "$shuffle([1..10000])", Answer),
        case("a sort that lies", "$sort([1..5000], function($a,$b){ true })", Any),
        case("a sort by chance", "$sort([1..5000], function($a,$b){ $random() < 0.5 })", Any),
        case("a sort that is slow", "$sort([1..10000], function($a,$b){ $sum([1..1000]) > $a })", AnyLimit),
        case("the distinct of many", "$distinct($map([1..10000], function($i){ $i }))", Any),
        case("the keys of many", "$keys($map([1..10000], function($i){ {$string($i): 1} }))", Any),
        case("zip of many", format!("($a := [1..10000]; $zip({}))", vec!["$a"; 2_000].join(",")), AnyLimit),
        case("a product of paths", "($a := [1..1000]; $a@$x.$a@$y.{\"x\": $x, \"y\": $y})", AnyLimit),
        case("a filter in a filter", "($a := [1..3000]; $a[$ in $a[$ in $a]])", AnyLimit),
        case("unseen results", "$map($map([1..10000], $string), $pad(?, 1000000))", AnyLimit),
        case(
            "unseen results by another name",
            "($p := $pad; $map([1..10000], function($i){ $p(\"\", 1000000) }))",
            AnyLimit,
        ),
        case(
            "unseen results of eval",
            "$eval(\"$map([1..10000], function($i){ $pad('', 1000000) })\")",
            AnyLimit,
        ),
        case(
            "distinct over and over",
            "($a := [1..5000]; $map([1..1000], function($i){ $distinct($a) }))",
            AnyLimit,
        ),
        case(
            "comparing over and over",
            "($a := [1..9999]; $b := [1..9999]; $map([1..9999], function($i){ $a = $b }))",
            AnyLimit,
        ),
        case("powers", "$power(10, 400)", Fault("D3061")),
    ]);
    all.extend(pictures());
    all
}

/// Pictures of numbers and dates that are longer than anybody writes.
fn pictures() -> Vec<Case> {
    let long = |name: &str, text: &str| limit(name, text, Limit::StringSize);
    vec![
        long("a picture that breaks the engine", "$formatNumber(1, \"0.\" & $pad(\"\", 65536, \"0\"))"),
        Case {
            input: Input::Picture,
            ..case(
                "a picture that breaks the engine, unseen",
                "$map([1], $formatNumber(?, picture))",
                Fault("U1000"),
            )
        },
        long("a long picture of a date", "$fromMillis(0, $pad(\"\", 900000, \"[Y]\"))"),
        long(
            "long pictures of dates",
            "$map([1..300], function($i){ $fromMillis(0, $pad(\"\", 90000, \"[Y]\")) })",
        ),
        limit(
            "many pictures of dates",
            "$map([1..10000], function($i){ $length($fromMillis(0, $pad(\"\", 999, \"[Y]\"))) })",
            Limit::Steps,
        ),
        long("a long picture to read a date by", "$toMillis(\"1\", $pad(\"\", 90000, \"[Y]\"))"),
        long("a long picture of a count", "$formatInteger(7, $pad(\"\", 90000, \"0\"))"),
    ]
}

/// Inputs that are deep or large.
fn inputs() -> Vec<Case> {
    let deep = |name: &str, text: &str, end: End| Case { input: Input::Deep, ..case(name, text, end) };
    let wide = |name: &str, text: &str, end: End| Case { input: Input::Wide, ..case(name, text, end) };
    let objects = |name: &str, text: &str, end: End| Case { input: Input::Objects, ..case(name, text, end) };
    vec![
        deep("a deep input, returned", "$", Any),
        deep("a deep input, descended", "$count(**)", Any),
        deep("a deep input, as text", "$string($)", Any),
        deep("a deep input, cloned", "$ ~> |a|{\"b\": 1}|", Any),
        deep("a deep input, compared", "$ = $clone($)", Any),
        wide("a wide input, descended", "$count(**)", AnyLimit),
        wide("a wide input, counted", "$count(items)", Answer),
        wide("a wide input, filtered", "items[n = 5].n", Any),
        wide("a wide input, all returned", "items.n", AnyLimit),
        wide("a wide input and its parents", "items.t.%.%.items.t.%.n", AnyLimit),
        wide("a wide input, transformed", "$ ~> |items|{\"m\": 1}|", Any),
        wide("a wide input, sorted", "items^(>n)[0].n", Any),
        wide("a wide input, grouped", "items{$string(n): t}", Any),
        wide("a wide input, counted from each item", "items.($count($$.items))", AnyLimit),
        wide("a wide input, put into each item", "items.[$$.items]", AnyLimit),
        objects("objects, counted from each", "$count(o.($count($$.o)))", Answer),
        objects("objects, counted from each in a condition", "$count(o[$count($$.o) > v])", Answer),
        objects("objects, read from each", "o.($sum($$.o.v))", AnyLimit),
        objects("objects, put into each", "o.{\"a\": $$.o}", AnyLimit),
    ]
}

/// Nests arrays in objects, two levels a time. `serde_json` drops values level by level on the stack, so the caller needs
/// one that is large enough.
pub(crate) fn deep(times: usize) -> Value {
    let around =
        |inner: Value| Value::Object([("a".to_owned(), Value::Array(vec![inner]))].into_iter().collect());
    (0..times).fold(Value::from(1), |inner, _| around(inner))
}
