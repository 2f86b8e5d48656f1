//! What is no text of the format is refused at its line and column, and what is too much is refused at all.

use expect_test::{Expect, expect};
use regatta_files::run_file::{self, LEVELS_MAX, Layout, RenderError, TEXT_BYTES_MAX};
use serde_json::{Value, json};

const MARKDOWN: Layout<'_> = Layout::FrontMatter { body: "text" };

fn check(layout: Layout<'_>, texts: &[&str], expected: Expect) {
    let told = |text: &&str| match run_file::parse(text.as_bytes(), layout) {
        Ok(value) => format!("{text:?}\n    {value}\n"),
        Err(fault) => format!("{text:?}\n    {fault}\n"),
    };
    expected.assert_eq(&texts.iter().map(told).collect::<String>());
}

#[test]
fn a_fault_of_a_document_has_its_place() {
    check(
        Layout::Json,
        &["", "{\n  \"a\": 1,\n}\n", "{\"a\": 1} x", "{\"a\": tru}", "{\"a\": 1, \"a\": 2}", "{\"a\": NaN}"],
        expect![[r#"
            ""
                line 1, column 1: EOF while parsing a value
            "{\n  \"a\": 1,\n}\n"
                line 3, column 1: trailing comma
            "{\"a\": 1} x"
                line 1, column 10: trailing characters
            "{\"a\": tru}"
                line 1, column 10: expected ident
            "{\"a\": 1, \"a\": 2}"
                line 1, column 12: the key `a` is there twice
            "{\"a\": NaN}"
                line 1, column 7: expected value
        "#]],
    );
}

#[test]
fn a_fault_of_front_matter_has_its_place() {
    check(
        MARKDOWN,
        &[
            "",
            "# Spec\n",
            "---\nversion: 1\n",
            "---\nversion: 1.1.0\n---\n",
            "---\nname: Ada\n---\n",
            "---\na: 1\na: 2\n---\n",
            "---\ntext: \"x\"\n---\n",
            "---\njust words\n---\n",
            "---\n\"odd: 1\n---\n",
            "---\nlist: [1,\n  2]\n---\n",
        ],
        expect![[r##"
            ""
                line 1, column 1: the file does not begin with a line `---`
            "# Spec\n"
                line 1, column 1: the file does not begin with a line `---`
            "---\nversion: 1\n"
                line 3, column 1: the front matter is not ended by a line `---`
            "---\nversion: 1.1.0\n---\n"
                line 2, column 13: the value of `version` is not JSON: trailing characters; a text stands in quotes
            "---\nname: Ada\n---\n"
                line 2, column 7: the value of `name` is not JSON: expected value; a text stands in quotes
            "---\na: 1\na: 2\n---\n"
                line 3, column 1: the key is there twice
            "---\ntext: \"x\"\n---\n"
                line 2, column 1: `text` is the text below the front matter, and no key of it
            "---\njust words\n---\n"
                line 2, column 1: this is no line such as `key: "value"`
            "---\n\"odd: 1\n---\n"
                line 2, column 1: the key has no closing quote
            "---\nlist: [1,\n  2]\n---\n"
                line 2, column 9: the value of `list` is not JSON: EOF while parsing a value
        "##]],
    );
}

#[test]
fn bytes_that_are_no_text_have_their_place() {
    let fault = run_file::parse(b"{\n \"a\": \"\xff\"}", Layout::Json).unwrap_err();
    assert_eq!(fault.to_string(), "line 2, column 8: this is not UTF-8");
    let lines: Vec<_> = run_file::lines(b"{\"a\":1}\n\n\xff\n{\"a\": 2").collect();
    assert_eq!((lines[0].value.clone(), lines[0].is_whole), (Ok(Some(json!({ "a": 1 }))), true));
    assert_eq!(lines[1].value, Ok(None));
    assert_eq!(lines[2].value.clone().unwrap_err().line, 3);
    assert!(!lines[3].is_whole && lines[3].value.is_err());
    assert_eq!((lines[3].offset, lines[3].bytes), (11, &b"{\"a\": 2"[..]));
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(Value::Null, |inner, _| json!([inner]))
}

#[test]
fn what_is_too_deep_is_neither_written_nor_read() {
    let text = run_file::render(&nested(LEVELS_MAX), Layout::Json).unwrap();
    assert_eq!(run_file::parse(text.as_bytes(), Layout::Json).unwrap(), nested(LEVELS_MAX));
    assert_eq!(run_file::render(&nested(LEVELS_MAX + 1), Layout::Json), Err(RenderError::TooDeep));
    for levels in [LEVELS_MAX + 1, 500, 200_000] {
        for (open, close) in
            [("[", "]"), ("{\"a\":", "}"), ("{\"$serde_json::private::RawValue\":\"[", "]\"}")]
        {
            let text = format!("{}1{}", open.repeat(levels), close.repeat(levels));
            let fault = run_file::parse(text.as_bytes(), Layout::Json).unwrap_err();
            assert!(fault.line == 1, "{fault}");
        }
    }
}

#[test]
fn what_is_too_much_is_refused() {
    let many = format!("[{}1]", "1,".repeat(1_200_000));
    let fault = run_file::parse(many.as_bytes(), Layout::Json).unwrap_err();
    assert_eq!(fault.what, "the text has more than 1000000 values");
    let large = vec![b' '; TEXT_BYTES_MAX + 1];
    assert!(run_file::parse(&large, MARKDOWN).unwrap_err().what.starts_with("the text has more than"));
    let large = Value::from("x".repeat(TEXT_BYTES_MAX));
    assert_eq!(run_file::render(&large, Layout::Json), Err(RenderError::TooLarge));
}

#[test]
fn what_is_no_object_with_a_text_has_no_front_matter() {
    assert_eq!(run_file::render(&json!([1]), MARKDOWN), Err(RenderError::NoObject));
    assert_eq!(
        run_file::render(&json!({ "text": 1 }), MARKDOWN),
        Err(RenderError::NoText("text".to_owned()))
    );
}
