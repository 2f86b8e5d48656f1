//! Each limit holds at its bound, and what stands in for the world is given.

use std::time::Duration;

use regatta_expr::{EXPRESSION_BYTES_MAX, Expression, Limit, Limits};
use serde_json::{Value, json};

use crate::compile;

fn run(text: &str, limits: &Limits) -> Result<Option<Value>, Option<Limit>> {
    compile(text).evaluate(&json!({ "a": [1, 2, 3] }), &[], limits).map_err(|fault| fault.limit())
}

#[test]
fn each_limit_holds_at_its_bound() {
    let usual = Limits::at(0);
    let cases: [(&str, Limits, Limits, Limit); 6] = [
        ("1 + 1", Limits { steps: 3, ..usual.clone() }, Limits { steps: 2, ..usual.clone() }, Limit::Steps),
        ("1 + 1", Limits { depth: 2, ..usual.clone() }, Limits { depth: 1, ..usual.clone() }, Limit::Depth),
        ("[1..5]", Limits { items: 5, ..usual.clone() }, Limits { items: 4, ..usual.clone() }, Limit::Items),
        (
            "\"ab\" & \"c\"",
            Limits { string_bytes: 3, ..usual.clone() },
            Limits { string_bytes: 2, ..usual.clone() },
            Limit::StringSize,
        ),
        (
            "[1,2]",
            Limits { result_bytes: 5, ..usual.clone() },
            Limits { result_bytes: 4, ..usual.clone() },
            Limit::ResultSize,
        ),
        (
            "[[1,2],[3,4]]",
            Limits { values: 4, ..usual.clone() },
            Limits { values: 3, ..usual },
            Limit::Values,
        ),
    ];
    for (text, enough, short, which) in cases {
        assert!(run(text, &enough).is_ok(), "{which:?}: {:?}", run(text, &enough));
        assert_eq!(run(text, &short), Err(Some(which)), "{text}");
    }
}

#[test]
fn memory_is_counted_over_the_whole_evaluation() {
    let text = "$count($map([1..100], function($i){ $join([\"x\", $string($i)]) }))";
    let limits = Limits { memory_bytes: 4_000, ..Limits::at(0) };
    assert_eq!(run(text, &limits), Err(Some(Limit::Memory)));
    assert_eq!(run(text, &Limits::at(0)), Ok(Some(json!(100))));
}

#[test]
fn the_clock_stops_what_nothing_else_does() {
    let endless = "($f := function($n){ $f($n + 1) }; $f(0))";
    let limits = Limits { steps: u64::MAX, time: Duration::from_millis(20), ..Limits::at(0) };
    assert_eq!(run(endless, &limits), Err(Some(Limit::Time)));
}

#[test]
fn a_text_may_be_so_long_and_no_longer() {
    let text = format!("{}1", " ".repeat(EXPRESSION_BYTES_MAX - 1));
    assert_eq!(run(&text, &Limits::at(0)), Ok(Some(json!(1))));
    let fault = Expression::compile(&format!(" {text}")).expect_err("too long");
    assert_eq!(fault.limit(), Some(Limit::ExpressionSize));
}

#[test]
fn time_and_chance_are_given() {
    let moment = Limits::at(1_700_000_000_000);
    assert_eq!(run("$now()", &moment), Ok(Some(json!("2023-11-14T22:13:20.000Z"))));
    assert_eq!(run("$millis()", &moment), Ok(Some(json!(1_700_000_000_000_u64))));
    let chance = "[$random(), $shuffle([1..20])]";
    assert_eq!(run(chance, &moment), run(chance, &moment));
    assert_ne!(run(chance, &moment), run(chance, &Limits { seed: 7, ..moment.clone() }));
}

#[test]
fn variables_are_named_without_the_dollar() {
    let bindings = [("output", &json!({ "n": 2 })), ("m", &json!(3))];
    let answer = compile("$output.n * $m + a[0]").evaluate(&json!({ "a": [4] }), &bindings, &Limits::at(0));
    assert_eq!(answer, Ok(Some(json!(10))));
}

#[test]
fn a_long_text_may_be_searched_once_by_a_pattern() {
    let input = json!({ "report": "x".repeat(100_000) + " done" });
    let once = compile("$contains(report, /done$/)").evaluate(&input, &[], &Limits::at(0));
    assert_eq!(once, Ok(Some(json!(true))));
}

#[test]
fn ordinary_work_on_a_large_state_stays_within_the_limits() {
    let tasks: Vec<Value> = (0..5_000)
        .map(|n| json!({ "id": n, "status": if n % 3 == 0 { "done" } else { "open" }, "needs": [n, n + 1] }))
        .collect();
    let state = json!({ "tasks": tasks, "current": 7 });
    for (text, answer) in [
        ("$count(tasks[status = \"done\"])", json!(1_667)),
        ("$sum(tasks.id)", json!(12_497_500)),
        ("tasks[id = $$.current].status", json!("open")),
        ("$count($filter(tasks, function($t){ $t.status = \"open\" }))", json!(3_333)),
        ("($done := tasks[status = \"done\"].id; $count(tasks[id < 500][id in $done]))", json!(167)),
        ("$join($map(tasks[[0..99]], function($t){ $string($t.id) }), \",\") ~> $length()", json!(289)),
        ("$count($distinct(tasks.status))", json!(2)),
        ("$max(tasks.needs)", json!(5_000)),
    ] {
        let limits = Limits { time: Duration::from_secs(60), ..Limits::at(0) };
        assert_eq!(compile(text).evaluate(&state, &[], &limits), Ok(Some(answer)), "{text}");
    }
}

#[test]
fn an_edge_that_only_reads_is_bounded_too() {
    let state = json!({ "tasks": (0..12_000).collect::<Vec<u32>>() });
    let end =
        |text: &str, limits: &Limits| compile(text).evaluate(&state, &[], limits).map_err(|f| f.limit());
    let usual = Limits::at(0);
    assert_eq!(end("$count(tasks) = 12000", &usual), Ok(Some(json!(true))));
    assert_eq!(end("tasks[$ > 1]", &usual), Err(Some(Limit::Items)));
    assert_eq!(
        end("$sum(tasks[$ in $$.tasks])", &Limits { steps: 1_000, ..usual.clone() }),
        Err(Some(Limit::Steps))
    );
    assert_eq!(end("tasks", &Limits { result_bytes: 100, ..usual }), Err(Some(Limit::ResultSize)));
}
