//! Size and depth: what is large or absurd takes no longer than its bytes deserve.

use regatta_files::{NewSession, TaskFile, changes, merge};

/// One of each of these is far more than a person writes; a parser that is not linear would not come back.
const BYTES: usize = 1024 * 1024;

const FRAME: (&str, &str) =
    ("# Task #1: A\n\n## 3. Progress Log\n\n", "\n\n## 4. Chain Output\n\n(To be completed)\n");

#[test]
fn ten_megabytes_of_log_come_out_as_they_went_in() {
    let session = |number: usize| {
        let lines = "- did `something` with **care** and [a link](https://example.org)\n".repeat(100);
        format!("### Session {number} - 2024-11-26 10:00\n**Did:**\n{lines}\n**Next:** more\n\n")
    };
    let log: String = (1..=1600).map(session).collect();
    assert!(log.len() > 10_000_000);
    let text = format!("{}{log}{}", FRAME.0, FRAME.1);
    let file = TaskFile::parse(text.clone());
    assert_eq!(file.sessions().len(), 1600);
    assert!(file.text() == text);
    let new = file.with_session(&NewSession { number: 1601, ..NewSession::default() }).unwrap();
    assert!(new.text().starts_with(&text[..FRAME.0.len() + log.len()]) && new.text().ends_with(FRAME.1));
    assert_eq!(new.sessions().len(), 1601);
}

#[test]
fn towers_and_thickets_take_no_longer_than_their_size() {
    let pieces = [
        ">",
        "> ",
        "- ",
        "1. ",
        "[",
        "![",
        "](",
        "*a ",
        "_a_",
        "`",
        "``a",
        "<!--",
        "<a ",
        "&",
        "\\",
        "#",
        "# ",
        "~~~\n",
        "```\n",
        "[a]: b\n",
        "[a][",
        "- [ ] ",
        "- [ ] a\n",
        "### Session 1\n",
        "**Did:** ",
        "| ",
        "\r",
        "\t",
        "    a\n",
        "<div>\n",
        "> a\n\n",
        "{",
        "* * ",
        "<?",
        "<![CDATA[",
        "a\n===\n",
        "-->",
        "](<",
    ];
    for piece in pieces {
        let tower = piece.repeat(BYTES / piece.len());
        for text in [
            format!("{}{tower}{}", FRAME.0, FRAME.1),
            format!("{}{tower}{}", FRAME.0, "\n".repeat(BYTES / 4)),
        ] {
            assert!(TaskFile::parse(text.as_str()).text() == text, "{piece}");
        }
    }
}

#[test]
fn deep_lists_with_many_lines_below_them_are_no_trap() {
    let deep: String = (0..2000).map(|depth| format!("{}- a\n", " ".repeat(depth))).collect();
    let text = format!("{}{deep}{}{}", FRAME.0, "\n".repeat(20_000), FRAME.1);
    assert!(TaskFile::parse(text.as_str()).text() == text);
}

#[test]
fn many_headings_are_no_trap() {
    for (first, second) in
        [("## x\n", "## 0. Metadata\n"), ("### x\n", "### Requirements\n"), ("### x\n", "### Session 1\n")]
    {
        for section in ["## 1. Context\n", "## 3. Progress Log\n"] {
            let text = format!("{section}{}{section}{}", first.repeat(BYTES / 16), second.repeat(BYTES / 16));
            let file = TaskFile::parse(text.as_str());
            assert!(file.text() == text);
            let new = TaskFile::parse(text.replacen("x\n", "y\n", 1));
            assert!(!changes(&file, &new).is_empty());
            assert!(merge(&text, new.text(), &format!("{text}## z\n")).text.contains("## z"));
        }
    }
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_place() {
    assert_eq!(TaskFile::parse_bytes(b"ab\xffc".as_slice()).unwrap_err().at, 2);
}
