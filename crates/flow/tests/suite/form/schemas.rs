//! The schemas of the state, of the input and of what roles return.

use expect_test::expect;

use super::loading::{check, check_toml};
use crate::folders::{SMALL, SMALL_STATE};

#[test]
fn schemas() {
    check(
        &[("state.schema.json", "")],
        expect![[r#"
        workflow.toml:1:1: error[missing-file]: there is no file `state.schema.json`
          | name = "small"
    "#]],
    );
    check(
        &[("state.schema.json", "{ \"type\": \"object\", }\n")],
        expect![[r#"
        state.schema.json:1:21: error[bad-json]: the file is not JSON: trailing comma at line 1 column 21
          | }
    "#]],
    );
    check(
        &[("state.schema.json", "{ \"\\u0024serde_json::private::RawValue\": \"{}\" }\n")],
        expect![[r#"
            state.schema.json:1:1: error[bad-json]: the file is not JSON: the key `$serde_json::private::RawValue` is reserved
              | {
        "#]],
    );
    check(
        &[(
            "state.schema.json",
            &SMALL_STATE.replace("integer", "integr").replace("[]", "3, \"minItems\": -1"),
        )],
        expect![[r#"
            state.schema.json:4:16: error[bad-schema]: this is not a schema: "integr" is not one of ["array","boolean","integer","null","number","object","string"]
              | "type": "integr"
            state.schema.json:5:78: error[bad-schema]: this is not a schema: -1 is less than the minimum of 0
              | "minItems": -1
        "#]],
    );
    check(
        &[("state.schema.json", &SMALL_STATE.replace("count", "output"))],
        expect![[r#"
        state.schema.json:4:5: error[reserved-name]: a field of the state cannot be called `output`: expressions use that name for something else (rename the field)
          | "output": { "type": "integer", "default": 0 }
    "#]],
    );
    check(
        &[("state.schema.json", "{ \"type\": \"array\" }\n")],
        expect![[r#"
        state.schema.json:1:3: error[state-not-object]: a state is an object (write `"type": "object"`)
          | "type": "array"
    "#]],
    );
    check(
        &[("state.schema.json", &SMALL_STATE.replace("\"default\": 0", "\"default\": 0.5"))],
        expect![[r#"
        state.schema.json:4:5: error[bad-defaults]: the defaults do not make a valid state: count: 0.5 is not of type "integer" (every required field needs a valid `default`)
          | "count": { "type": "integer", "default": 0.5 }
    "#]],
    );
    check(
        &[(
            "state.schema.json",
            &SMALL_STATE.replace("\"properties\"", "\"required\": [\"x\"],\n  \"properties\""),
        )],
        expect![[r#"
            state.schema.json:3:3: error[bad-defaults]: the defaults do not make a valid state: "x" is a required property (every required field needs a valid `default`)
              | "required": ["x"]
        "#]],
    );
    check(
        &[("state.schema.json", &SMALL_STATE.replace("\"type\": \"string\"", "\"$ref\": \"#/$defs/x\""))],
        expect![[r##"
        state.schema.json:5:44: error[bad-schema]: this is not a schema: Pointer '/$defs/x' does not exist
          | "$ref": "#/$defs/x"
    "##]],
    );
    check(
        &[(
            "state.schema.json",
            &SMALL_STATE.replace("\"type\": \"string\"", "\"$ref\": \"https://example.org/x\""),
        )],
        expect![[r##"
            state.schema.json:5:44: error[bad-schema]: this is not a schema: the reference points outside the file (only references within the file are followed, such as "#/$defs/item": copy it there)
              | "$ref": "https://example.org/x"
        "##]],
    );
    check(
        &[("roles/worker.output.json", "{ \"items\": { \"$ref\": \"defs.json#/i\" } }\n")],
        expect![[r##"
        roles/worker.output.json:1:14: error[bad-schema]: this is not a schema: the reference points outside the file (only references within the file are followed, such as "#/$defs/item": copy it there)
          | "$ref": "defs.json#/i"
    "##]],
    );
    check(
        &[("input.schema.json", "[]\n")],
        expect![[r#"
        input.schema.json:1:1: error[bad-schema]: this is not a schema: the value is not of types "boolean", "object"
          | []
    "#]],
    );
    check_toml(
        "start =",
        "input = \"in.json\"\nstate = \"st.json\"\nstart =",
        expect![[r#"
        workflow.toml:2:9: error[missing-file]: there is no file `in.json`
          | "in.json"
        workflow.toml:3:9: error[missing-file]: there is no file `st.json`
          | "st.json"
    "#]],
    );
    check(
        &[("roles/worker.output.json", "{ \"pattern\": \"(\" }\n")],
        expect![[r#"
        roles/worker.output.json:1:3: error[bad-schema]: this is not a schema: "(" is not a "regex"
          | "pattern": "("
    "#]],
    );
}

#[test]
fn what_a_schema_says_twice_or_in_another_dialect_is_told() {
    check(
        &[(
            "state.schema.json",
            &SMALL_STATE.replacen("\"type\":", "\"title\": \"a\", \"title\": \"b\", \"type\":", 1),
        )],
        expect![[r#"
            state.schema.json:2:17: error[repeated-key]: the key `title` appears twice in one object
              | "title"
        "#]],
    );
    check(
        &[(
            "state.schema.json",
            &SMALL_STATE.replacen("\"type\":", "\"$schema\": \"http://unknown/dialect\", \"type\":", 1),
        )],
        expect![[r#"
            state.schema.json:2:3: error[bad-schema]: this is not a schema: `http://unknown/dialect` is not a known dialect of JSON Schema (write "https://json-schema.org/draft/2020-12/schema", or remove `$schema`)
              | "$schema": "http://unknown/dialect"
        "#]],
    );
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let marked = |text: &str| format!("\u{feff}{text}");
    let output = marked("{ \"type\": \"object\" }");
    check(
        &[
            ("workflow.toml", &marked(SMALL)),
            ("state.schema.json", &marked(SMALL_STATE)),
            ("input.schema.json", &output),
            ("roles/worker.output.json", &output),
            ("roles/worker.md", &marked("Do {{ goal }}.")),
        ],
        expect![[r#"
            small loads
        "#]],
    );
    check(
        &[
            ("workflow.toml", &marked("nam = 1\n")),
            ("state.schema.json", &marked("{ \"type\": 3 }")),
            ("input.schema.json", &marked("{ \"type\" }")),
        ],
        expect![[r#"
            input.schema.json:1:10: error[bad-json]: the file is not JSON: expected `:` at line 1 column 10
              | }
            state.schema.json:1:3: error[bad-schema]: this is not a schema: 3 is not one of ["array","boolean","integer","null","number","object","string"]
              | "type": 3
            workflow.toml:1:1: error[missing-key]: the workflow has no `name` (add `name = …`)
              | nam = 1
            workflow.toml:1:1: error[missing-key]: the workflow has no `start` (add `start = …`)
              | nam = 1
            workflow.toml:1:1: error[missing-key]: the workflow has no `nodes` (add a table `[nodes.<name>]` for each node)
              | nam = 1
            workflow.toml:1:1: error[unknown-key]: the workflow has no key `nam` (did you mean `name`?)
              | nam
        "#]],
    );
}
