//! Expressions and places.

use expect_test::expect;

use super::loading::{check_added, check_toml};

#[test]
fn expressions() {
    check_added(
        "when = \"count = \"\n",
        expect![[r#"
        workflow.toml:16:17: error[bad-expression]: the expression cannot be read: Unexpected end of expression (S0207)
          | 
    "#]],
    );
    check_added(
        "when = 'a.b ( c'\n",
        expect![[r#"
        workflow.toml:16:16: error[bad-expression]: the expression cannot be read: Expected ")" before end of expression (S0203)
          | 
    "#]],
    );
    check_added(
        "when = \"\"\"\n  count =\n    1 1\"\"\"\n",
        expect![[r#"
        workflow.toml:18:7: error[bad-expression]: the expression cannot be read: Syntax error: 1.0 (S0201)
          | 1
    "#]],
    );
    check_added(
        "when = \"count = \\\"a\\\" \\\"\"\n",
        expect![[r#"
        workflow.toml:16:8: error[bad-expression]: the expression cannot be read: String literal must be terminated by a matching quote (S0101)
          | "count = \"a\" \""
    "#]],
    );
    check_toml(
        "goal = \"input.goal\"",
        "goal = \"input.(\"",
        expect![[r#"
        workflow.toml:7:26: error[bad-expression]: the expression cannot be read: Expected ")" before end of expression (S0203)
          | 
    "#]],
    );
    check_added(
        "[bind]\nitem = \"items[$other]\"\nother = \"count\"\n",
        expect![[r#"
            workflow.toml:17:15: error[unknown-variable]: there is no variable `$other` (define it under `[view]` or `[bind]`; places of `[bind]` cannot use variables)
              | $other
        "#]],
    );
    check_added(
        "when = \"$itme = 1 and $sum(items) = $x\"\n[bind]\nitem = \"items[0]\"\n",
        expect![[r#"
            workflow.toml:16:9: error[unknown-variable]: there is no variable `$itme` (did you mean `$item`?)
              | $itme
            workflow.toml:16:37: error[unknown-variable]: there is no variable `$x` (define it under `[view]` or `[bind]`; places of `[bind]` cannot use variables)
              | $x
        "#]],
    );
    check_added(
        "when = \"$conut(items) = 1 and $frobnicate (count) = 2\"\n",
        expect![[r#"
            workflow.toml:16:9: error[unknown-variable]: there is no function `$conut` (did you mean `$count`?)
              | $conut
            workflow.toml:16:31: error[unknown-variable]: there is no function `$frobnicate` (use a function of JSONata, or define it in the expression)
              | $frobnicate
        "#]],
    );
    check_added(
        "when = \"($x := 1; $map(items, function($v) { $v + $x }))\"\n",
        expect![[r#"
        small loads
    "#]],
    );
}

#[test]
fn places() {
    check_added(
        "[edges.set]\n\"items[count\" = \"1\"\n",
        expect![[r#"
            workflow.toml:17:7: error[bad-place]: the `[` is not closed (a place is a path such as `tasks[currentTaskIndex].status`, or a list and `[+]` to add to it)
              | [count
        "#]],
    );
    check_added(
        "[edges.set]\n\"items[count +]\" = \"1\"\n",
        expect![[r#"
        workflow.toml:17:15: error[bad-expression]: the expression cannot be read: Unexpected end of expression (S0207)
          | 
    "#]],
    );
    check_added(
        "[edges.set]\n\"items count\" = \"1\"\n",
        expect![[r#"
            workflow.toml:17:7: error[bad-place]: `.` or `[` is expected here (a place is a path such as `tasks[currentTaskIndex].status`, or a list and `[+]` to add to it)
              |  count
        "#]],
    );
    check_added(
        "[edges.set]\n\"output.x\" = \"1\"\n",
        expect![[r#"
        workflow.toml:17:2: error[bad-place]: `output` is not a part of the state and cannot be set or named
          | output
    "#]],
    );
    check_added(
        "[bind]\nwhole = \"input\"\n",
        expect![[r#"
        workflow.toml:17:10: error[bad-place]: `input` is not a part of the state and cannot be set or named
          | input
    "#]],
    );
}
