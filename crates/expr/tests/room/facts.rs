//! What is said of an expression before it runs.

use regatta_expr::Expression;

use crate::compile;

fn paths(text: &str) -> Vec<String> {
    compile(text).reads().paths.into_iter().map(|path| path.join(".")).collect()
}

#[test]
fn an_expression_is_shared_between_threads() {
    fn is_shared<T: Send + Sync + Clone + 'static>() {}
    is_shared::<Expression>();
}

#[test]
fn paths_from_the_top_of_the_input_are_found() {
    assert_eq!(paths("a.b.c = 1 and d < $count(tasks) - 1"), ["a.b.c", "d", "tasks"]);
    assert_eq!(paths("tasks[id = $current].status"), ["tasks.id", "tasks.status"]);
    assert_eq!(paths("1 + 1"), [""; 0]);
}

#[test]
fn variables_from_outside_are_found() {
    assert_eq!(compile("($x := 1; $x + $y)").reads().variables, ["y"]);
    let reads = compile("$task.a.b = $task.c and $other and d").reads();
    let paths: Vec<String> = reads.variable_paths.iter().map(|path| path.join(".")).collect();
    assert_eq!(paths, ["other", "task.a.b", "task.c"]);
}

#[test]
fn an_expression_that_may_read_anything_says_so() {
    assert!(compile("$").reads().whole_input);
    assert!(compile("**.x").reads().whole_input);
    let reads = compile("$eval(text)").reads();
    assert!(reads.whole_input && reads.any_variable);
    assert!(!compile("a.b").reads().whole_input);
}

#[test]
fn constants_are_told_from_the_rest() {
    for text in ["true", "1 + 1 = 2", "[1..3]", "$sum([1, 2])", "(function($x){ $x })(1)"] {
        assert!(compile(text).is_constant(), "{text}");
    }
    for text in ["a", "$x", "$now()", "$millis() > 0", "$random()", "$shuffle([1,2])", "$eval(\"1\")", "$"] {
        assert!(!compile(text).is_constant(), "{text}");
    }
}
