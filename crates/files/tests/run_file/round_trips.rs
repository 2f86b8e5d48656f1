//! Every value comes back as it was, whatever is in it.

use expect_test::expect;
use proptest::prelude::*;
use regatta_files::run_file::{self, Layout};
use serde_json::{Map, Value, json};

const MARKDOWN: Layout<'_> = Layout::FrontMatter { body: "text" };

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-z-]{0,8}",
        "(---|\\n|\\r\\n|\\r|: |#|\"|\u{2028}|\u{85}|\u{feff}|\u{7f}|x){0,12}",
        Just("$serde_json::private::RawValue".to_owned()),
        prop::sample::select(vec!["true", "null", "y", "No", "~", "-", "1", ""]).prop_map(str::to_owned),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON has no other numbers", |number| number.is_finite())
            .prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any_text(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_object() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec((any_text(), any_value()), 0..6).prop_map(|fields| fields.into_iter().collect())
}

/// The order of fields counts too.
fn assert_same(found: &Value, value: &Value) {
    assert_eq!(found, value);
    assert_eq!(found.to_string(), value.to_string());
}

proptest! {
    #[test]
    fn a_document_comes_back(value in any_value()) {
        let text = run_file::render(&value, Layout::Json).unwrap();
        assert!(text.ends_with('\n'));
        assert_same(&run_file::parse(text.as_bytes(), Layout::Json).unwrap(), &value);
    }

    #[test]
    fn front_matter_and_text_come_back(fields in any_object(), text in prop::option::of(any_text())) {
        let mut fields = fields;
        fields.shift_remove("text");
        if let Some(text) = text {
            fields.insert("text".to_owned(), text.into());
        }
        let value = Value::Object(fields);
        let written = run_file::render(&value, MARKDOWN).unwrap();
        assert_same(&run_file::parse(written.as_bytes(), MARKDOWN).unwrap(), &value);
    }

    #[test]
    fn a_line_for_each_item_comes_back(items in prop::collection::vec(any_value(), 0..6), cut in 0_usize..40) {
        let text: String = items.iter().map(|item| run_file::render_line(item).unwrap()).collect();
        let lines: Vec<_> = run_file::lines(text.as_bytes()).collect();
        assert_eq!(lines.len(), items.len());
        for (line, item) in lines.into_iter().zip(&items) {
            assert!(line.is_whole);
            assert_same(&line.value.unwrap().unwrap(), item);
        }
        let cut = &text.as_bytes()[..text.len() - cut.min(text.len())];
        let whole = run_file::count_whole(cut);
        assert!(run_file::lines(&cut[..whole]).all(|line| line.is_whole && line.value.is_ok()));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for layout in [Layout::Json, MARKDOWN] {
            let _ = run_file::parse(&bytes, layout);
        }
        run_file::lines(&bytes).for_each(drop);
    }
}

#[test]
fn this_is_what_a_person_sees() {
    let value = json!({
        "version": "1.1.0", "edge_cases": ["empty input", "\u{2028}"], "yes": null, "odd key": { "a": 1.5 },
        "text": "# Spec\n\nLogs in.\n",
    });
    expect![[r##"
        ---
        version: "1.1.0"
        edge_cases: ["empty input","\u2028"]
        "yes": null
        "odd key": {"a":1.5}
        ---

        # Spec

        Logs in.

    "##]]
    .assert_eq(&run_file::render(&value, MARKDOWN).unwrap());
    expect![[r#"
        {
          "tasks": [
            {
              "id": "T1"
            }
          ],
          "risks": []
        }
    "#]]
    .assert_eq(&run_file::render(&json!({ "tasks": [{ "id": "T1" }], "risks": [] }), Layout::Json).unwrap());
    assert_eq!(run_file::render_line(&json!({ "file": "a.rs" })).unwrap(), "{\"file\":\"a.rs\"}\n");
}

#[test]
fn what_an_editor_changes_by_itself_is_no_edit() {
    let value = json!({ "version": 1, "text": "One.\nTwo." });
    for text in [
        "---\nversion: 1\n---\n\nOne.\nTwo.\n",
        "---\nversion: 1\n---\n\nOne.\nTwo.",
        "---\nversion: 1\n---\nOne.\nTwo.\n",
        "\u{feff}---\r\nversion: 1\r\n---\r\n\r\nOne.\r\nTwo.\r\n",
        "---  \n\n \"version\" :1\n---\n\nOne.\nTwo.\n".replace(" \"", "\"").as_str(),
    ] {
        assert_same(&run_file::parse(text.as_bytes(), MARKDOWN).unwrap(), &value);
    }
    let json = b"\xef\xbb\xbf{ \"a\": [1] }\r\n";
    assert_same(&run_file::parse(json, Layout::Json).unwrap(), &json!({ "a": [1] }));
}
