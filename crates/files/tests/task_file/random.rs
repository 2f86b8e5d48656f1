//! A small repeatable source of choices, and documents made from it.

use std::fmt::Write;

/// A source of choices; the same seed gives the same ones.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn of(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

/// Pieces that may stand anywhere in a section without opening or closing one.
const BLOCKS: &[&str] = &[
    "plain words\n",
    "two\nlines\n",
    "\n",
    "\n\n",
    "- item\n- other\n",
    "* star\n+ plus\n",
    "1. [ ] numbered box\n",
    "> quoted\n> ## 3. Progress Log\n",
    "> lazy\ncontinuation\n",
    "```\n## 4. Chain Output\n- [ ] fenced\n```\n",
    "~~~~md\n```\n### Session 9 - fenced\n```\n~~~~\n",
    "<!-- ## 1. Context -->\n",
    "<!--\n## 0. Metadata\n### Session 8 - hidden\n-->\n",
    "\ttabbed\n",
    "    ## indented code\n",
    "emoji 🎉 and nbsp\u{a0}here\n",
    "**bold** and `- [ ] code`\n",
    "[link](https://example.org) [x]: y\n",
    "[ref]: https://example.org\n",
    "| a | b |\n|---|---|\n| [ ] | c |\n",
    "text\n---\n",
    "***\n",
    "<div>\n## in html\n</div>\n\n",
    "trailing  \nspaces\t\n",
    "\\## escaped\n",
    "#### deep heading\n",
    "# pasted comment\n",
];

/// Pieces that fit together in no way.
const SHARDS: &[&str] = &[
    "## 0. Metadata",
    "## 1. Context",
    "## 2. Chain Inputs",
    "## 3. Progress Log",
    "## 4. Chain Output",
    "## Other",
    "# Task #1: T",
    "### Requirements",
    "### Acceptance Criteria",
    "### Session 1 - t",
    "### Session",
    "### Archived Summary (Sessions 1-2)",
    "### From Task #1: U",
    "- [ ] a",
    "- [x] b",
    "* [X] c",
    "1. [ ] d",
    "  - [ ] e",
    "```",
    "```json",
    "~~~",
    "{\"task_id\": 1}",
    "{",
    "}",
    "<!--",
    "-->",
    "> ",
    ">",
    "- ",
    "**Did:** x",
    "**Next:**",
    "\n",
    "\n",
    "\n",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    "    ",
    "[",
    "]",
    "(",
    ")",
    "`",
    "*",
    "_",
    "\\",
    "\u{feff}",
    "\u{a0}",
    "é",
    "🎉",
    "\0",
    "<div>",
    "</div>",
    "---",
    "===",
    "a",
    "b",
];

/// Returns a document: most often one with the usual sections and odd things in them, sometimes rubble.
pub(crate) fn document(random: &mut Random) -> String {
    if random.chance(30) { rubble(random) } else { structured(random) }
}

fn rubble(random: &mut Random) -> String {
    (0..random.below(40)).map(|_| random.pick(SHARDS)).collect()
}

/// Returns a document with sections; whatever is in them, it opens nothing that it does not close.
pub(crate) fn structured(random: &mut Random) -> String {
    let mut out = String::new();
    if random.chance(5) {
        out.push('\u{feff}');
    }
    if random.chance(95) {
        let _ = writeln!(out, "# Task #{}: Title", random.below(1000));
        blocks(random, &mut out, 1);
    }
    if random.chance(90) {
        metadata(random, &mut out);
    }
    if random.chance(95) {
        context(random, &mut out);
    }
    if random.chance(40) {
        chain_inputs(random, &mut out);
    }
    if random.chance(20) {
        out.push_str("## Unknown\n");
        blocks(random, &mut out, 2);
    }
    if random.chance(95) {
        log(random, &mut out);
    }
    if random.chance(90) {
        out.push_str(random.pick(&["## 4. Chain Output\n", "## 4. Chain Output ##\n\n"]));
        out.push_str(random.pick(&["(To be completed)\n", "", "### Summary\nDone\n"]));
        blocks(random, &mut out, 2);
    }
    finish(random, out)
}

fn finish(random: &mut Random, mut out: String) -> String {
    if random.chance(10) {
        out.truncate(out.trim_end().len());
    }
    if random.chance(20) { out.replace('\n', "\r\n") } else { out }
}

fn blocks(random: &mut Random, out: &mut String, max: usize) {
    for _ in 0..random.below(max + 1) {
        out.push('\n');
        out.push_str(random.pick(BLOCKS));
    }
    out.push('\n');
}

fn metadata(random: &mut Random, out: &mut String) {
    out.push_str("## 0. Metadata\n");
    let json = random.pick(&[
        "{\n  \"task_id\": 1,\n  \"status\": \"backlog\"\n}",
        "{\"task_id\":1,\"odd\":[{\"a\":\"}\"}]}",
        "{}",
        "{ \"status\" : \"x\" , \"status\":\"y\" }",
        "{ \"broken\": }",
        "[]",
    ]);
    let _ = write!(out, "```json\n{json}\n```\n");
    blocks(random, out, 1);
}

fn context(random: &mut Random, out: &mut String) {
    out.push_str("## 1. Context\n\n**Repository:** r\n");
    blocks(random, out, 1);
    if random.chance(90) {
        out.push_str("### Requirements\n");
        blocks(random, out, 2);
    }
    if random.chance(90) {
        out.push_str(random.pick(&["### Acceptance Criteria\n", "### acceptance criteria\n\n"]));
        for index in 0..random.below(5) {
            let bullet = random.pick(&["- [ ]", "- [x]", "* [X]", "+ [ ]", "1. [ ]", "-", "-\t[ ]"]);
            let tail =
                random.pick(&["", "\n  more", "\n  - [ ] nested", " (check: test)", "\n", "\n\n  second"]);
            let _ = writeln!(out, "{bullet} criterion {index}{tail}");
        }
        blocks(random, out, 1);
    }
}

fn chain_inputs(random: &mut Random, out: &mut String) {
    out.push_str("## 2. Chain Inputs\n\n");
    for task in 0..random.below(3) {
        let _ = writeln!(out, "### From Task #{task}: Up\n> said\n");
        blocks(random, out, 1);
    }
}

fn log(random: &mut Random, out: &mut String) {
    out.push_str("## 3. Progress Log\n\n");
    let count = random.below(4);
    if count == 0 {
        out.push_str(random.pick(&["(No sessions yet)\n\n", "", "\n"]));
    }
    for number in 1..=count {
        let _ = writeln!(out, "### Session {number} - 2024-11-26 1{number}:00");
        out.push_str(random.pick(&["**Did:** a\n**Next:** b\n", "**Did:**\n- a\n\n**Issues:** None\n", ""]));
        blocks(random, out, 2);
    }
    if random.chance(10) {
        out.push_str("### Notes\nn\n\n");
    }
}
