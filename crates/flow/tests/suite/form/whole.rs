//! The workflow as a whole: fit, and with a fault in every file.

use expect_test::expect;

use super::loading::check;
use crate::folders::SMALL;

#[test]
fn the_small_workflow_is_fit() {
    check(
        &[],
        expect![[r#"
        small loads
    "#]],
    );
}

#[test]
fn all_faults_of_all_files_at_once() {
    let toml = SMALL
        .replace("kind = \"end\"", "kind = \"edn\"")
        .replace("to = \"done\"", "to = \"done\"\nwhen = \"a (\"");
    check(
        &[
            ("workflow.toml", &toml),
            ("state.schema.json", "{"),
            ("roles/worker.md", "{{"),
            ("roles/worker.output.json", "3"),
        ],
        expect![[r#"
            roles/worker.md:1:1: error[bad-template]: the prompt cannot be read: unexpected end of input, expected expression
              | {{
            roles/worker.output.json:1:1: error[bad-schema]: this is not a schema: 3 is not of types "boolean", "object"
              | 3
            state.schema.json:1:1: error[bad-json]: the file is not JSON: EOF while parsing an object at line 1 column 1
              | {
            workflow.toml:10:8: error[unknown-kind]: there is no kind of node called `edn` (the kinds are `agent`, `map`, `approval`, `check`, `parallel`, `pass` and `end`)
              | "edn"
            workflow.toml:16:12: error[bad-expression]: the expression cannot be read: Expected ")" before end of expression (S0203)
              | 
        "#]],
    );
}
