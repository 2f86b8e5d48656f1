//! Git's patch, read into files, hunks and lines.
//!
//! Hunks are read by the counts in their heads, so no content of a file can pass for another part of the patch. The
//! combined form of merges (`@@@`) never occurs between two commits, and is left out.

use super::name::{read_name, read_pair, read_side};

/// No review reads more; what is beyond is cut.
const FILES_MAX: usize = 5_000;
const LINES_MAX: usize = 400_000;

/// A patch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch {
    /// Its files, in git's order.
    pub files: Vec<File>,
    /// Whether there was more than is here.
    pub is_cut: bool,
}

/// What changed in one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct File {
    /// Its name before; the same as after unless it was renamed or copied.
    pub old_path: String,
    /// Its name after.
    pub path: String,
    /// What happened to it.
    pub change: Change,
    /// Its mode before, such as `100644`.
    pub old_mode: Option<String>,
    /// Its mode after.
    pub new_mode: Option<String>,
    /// Whether git does not show it as lines.
    pub is_binary: bool,
    /// The ids of its content before and after, as git writes them.
    pub index: String,
    /// The parts that changed.
    pub hunks: Vec<Hunk>,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Change {
    Added,
    Deleted,
    #[default]
    Modified,
    Renamed,
    Copied,
}

/// A part of a file that changed, with the lines around it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The first line before.
    pub old_start: u32,
    /// How many lines it had.
    pub old_count: u32,
    /// The first line after.
    pub new_start: u32,
    /// How many lines it has.
    pub new_count: u32,
    /// The line that git names as what the hunk is in, such as a function's head.
    pub section: String,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Whether it stays, comes or goes.
    pub kind: LineKind,
    /// Its number before.
    pub old: Option<u32>,
    /// Its number after.
    pub new: Option<u32>,
    /// Its text, without the end of the line.
    pub text: String,
    /// Whether it ends with a carriage return too.
    pub has_return: bool,
    /// Whether the file ends with it, without an end of line.
    pub is_unended: bool,
}

/// Whether a line stays, comes or goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum LineKind {
    Context,
    Added,
    Removed,
}

impl Patch {
    /// Reads a patch, as far as it can be understood.
    pub fn parse(text: &str) -> Self {
        let mut patch = Patch::default();
        let mut lines = text.split('\n').peekable();
        let mut line_count = 0;
        while let Some(line) = lines.next() {
            let Some(names) = line.strip_prefix("diff --git ") else { continue };
            if patch.files.len() == FILES_MAX || line_count > LINES_MAX {
                patch.is_cut = true;
                break;
            }
            let mut file = File::default();
            (file.old_path, file.path) = read_pair(names).unwrap_or_default();
            while let Some(line) = lines.next_if(|line| !line.starts_with("diff --git ")) {
                if let Some(mut hunk) = parse_hunk_head(line) {
                    parse_lines(&mut hunk, &mut lines);
                    line_count += hunk.lines.len();
                    file.hunks.push(hunk);
                } else {
                    file.read_header(line);
                }
            }
            patch.files.push(file);
        }
        patch
    }
}

impl File {
    fn read_header(&mut self, line: &str) {
        let word = |prefix: &str| line.strip_prefix(prefix);
        if let Some(mode) = word("old mode ") {
            self.old_mode = Some(mode.to_owned());
        } else if let Some(mode) = word("new mode ") {
            self.new_mode = Some(mode.to_owned());
        } else if let Some(mode) = word("new file mode ") {
            (self.change, self.new_mode) = (Change::Added, Some(mode.to_owned()));
        } else if let Some(mode) = word("deleted file mode ") {
            (self.change, self.old_mode) = (Change::Deleted, Some(mode.to_owned()));
        } else if let Some(name) = word("rename from ") {
            self.set_old(Change::Renamed, name);
        } else if let Some(name) = word("copy from ") {
            self.set_old(Change::Copied, name);
        } else if let Some(name) = word("rename to ").or_else(|| word("copy to ")) {
            self.path = read_name(name).map_or_else(String::new, |(name, _)| name);
        } else if let Some(name) = word("--- ") {
            if let Some(name) = read_side(name, "a/") {
                self.old_path = name;
            }
        } else if let Some(name) = word("+++ ") {
            if let Some(name) = read_side(name, "b/") {
                self.path = name;
            }
        } else if line.starts_with("Binary files ") || line == "GIT binary patch" {
            self.is_binary = true;
        } else if let Some(index) = word("index ") {
            let (ids, mode) = index.split_once(' ').map_or((index, None), |(ids, mode)| (ids, Some(mode)));
            self.index = ids.to_owned();
            self.old_mode = self.old_mode.take().or(mode.map(str::to_owned));
            self.new_mode = self.new_mode.take().or(mode.map(str::to_owned));
        }
    }

    fn set_old(&mut self, change: Change, name: &str) {
        self.change = change;
        self.old_path = read_name(name).map_or_else(String::new, |(name, _)| name);
    }

    /// Returns how many lines come and go.
    pub fn counts(&self) -> (usize, usize) {
        let count =
            |kind| self.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.kind == kind).count();
        (count(LineKind::Added), count(LineKind::Removed))
    }

    /// Tells whether it is a submodule.
    pub fn is_submodule(&self) -> bool {
        [&self.old_mode, &self.new_mode].into_iter().flatten().any(|mode| mode == "160000")
    }

    /// Says in one sentence each what lines do not show: a rename, a mode, a binary file, an empty one.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        match self.change {
            Change::Renamed => notes.push(format!("Renamed from {}", self.old_path)),
            Change::Copied => notes.push(format!("Copied from {}", self.old_path)),
            Change::Added | Change::Deleted | Change::Modified => {}
        }
        let has_both = !matches!(self.change, Change::Added | Change::Deleted);
        match (&self.old_mode, &self.new_mode) {
            (Some(old), Some(new)) if old != new && has_both => notes.push(describe_modes(old, new)),
            (_, Some(new)) if self.change == Change::Added && new != "100644" => {
                notes.push(format!("New {}", describe_mode(new)));
            }
            (Some(old), _) if self.change == Change::Deleted && old != "100644" => {
                notes.push(format!("Was {}", describe_mode(old)));
            }
            _ => {}
        }
        if self.is_submodule() {
            notes.push("The submodule points to another commit".to_owned());
        } else if self.is_binary {
            notes.push(
                match self.change {
                    Change::Added => "Binary file added",
                    Change::Deleted => "Binary file deleted",
                    _ => "Binary file changed",
                }
                .to_owned(),
            );
        } else if self.hunks.is_empty() {
            match self.change {
                Change::Added => notes.push("Empty file added".to_owned()),
                Change::Deleted => notes.push("Empty file deleted".to_owned()),
                Change::Renamed | Change::Copied => notes.push("Its content is the same".to_owned()),
                Change::Modified => {}
            }
        }
        notes
    }
}

fn describe_modes(old: &str, new: &str) -> String {
    match (old, new) {
        ("100644", "100755") => "Became executable".to_owned(),
        ("100755", "100644") => "No longer executable".to_owned(),
        _ => format!("Was {}, is {} now", describe_mode(old), describe_mode(new)),
    }
}

fn describe_mode(mode: &str) -> String {
    match mode {
        "100644" => "a plain file".to_owned(),
        "100755" => "an executable file".to_owned(),
        "120000" => "a symbolic link".to_owned(),
        "160000" => "a submodule".to_owned(),
        other => format!("of mode {other}"),
    }
}

/// Reads `@@ -1,2 +3,4 @@ section`.
fn parse_hunk_head(line: &str) -> Option<Hunk> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, section) = rest.split_once(" @@")?;
    let range = |text: &str| -> Option<(u32, u32)> {
        match text.split_once(',') {
            Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    let ((old_start, old_count), (new_start, new_count)) = (range(old)?, range(new)?);
    let section = section.trim().to_owned();
    Some(Hunk { old_start, old_count, new_start, new_count, section, lines: Vec::new() })
}

fn parse_lines<'a>(hunk: &mut Hunk, lines: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>) {
    let (mut old_left, mut new_left) = (hunk.old_count, hunk.new_count);
    let (mut old, mut new) = (hunk.old_start, hunk.new_start);
    while old_left > 0 || new_left > 0 {
        let Some(line) = lines.next_if(|line| match line.as_bytes().first() {
            Some(b' ') => old_left > 0 && new_left > 0,
            Some(b'-') => old_left > 0,
            Some(b'+') => new_left > 0,
            Some(b'\\') => true,
            _ => false,
        }) else {
            // Cut off, or not what its head says.
            return;
        };
        let (sign, text) = line.split_at(1);
        let kind = match sign {
            " " => LineKind::Context,
            "-" => LineKind::Removed,
            "+" => LineKind::Added,
            _ => {
                mark_unended(hunk);
                continue;
            }
        };
        let (is_old, is_new) = (kind != LineKind::Added, kind != LineKind::Removed);
        let (text, has_return) = text.strip_suffix('\r').map_or((text, false), |text| (text, true));
        hunk.lines.push(Line {
            kind,
            old: is_old.then_some(old),
            new: is_new.then_some(new),
            text: text.to_owned(),
            has_return,
            is_unended: false,
        });
        (old, old_left) = (old.saturating_add(u32::from(is_old)), old_left - u32::from(is_old));
        (new, new_left) = (new.saturating_add(u32::from(is_new)), new_left - u32::from(is_new));
    }
    if lines.next_if(|line| line.starts_with('\\')).is_some() {
        mark_unended(hunk);
    }
}

fn mark_unended(hunk: &mut Hunk) {
    if let Some(line) = hunk.lines.last_mut() {
        line.is_unended = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use std::fmt::Write;

    fn show(text: &str) -> String {
        let mut shown = String::new();
        for file in &Patch::parse(text).files {
            let (added, removed) = file.counts();
            let _ = writeln!(
                shown,
                "{:?} {:?} +{added} -{removed} {}",
                file.change,
                file.path,
                file.notes().join(". ")
            );
            for hunk in &file.hunks {
                let _ = writeln!(shown, "  {:?} {}..", hunk.section, hunk.new_start);
                for line in &hunk.lines {
                    let number =
                        |number: Option<u32>| number.map_or("-".to_owned(), |number| number.to_string());
                    let _ = writeln!(
                        shown,
                        "    {} {} {:?} {:?}{}{}",
                        number(line.old),
                        number(line.new),
                        line.kind,
                        line.text,
                        if line.has_return { " CR" } else { "" },
                        if line.is_unended { " unended" } else { "" },
                    );
                }
            }
        }
        shown
    }

    #[test]
    fn every_kind_of_change_is_read() {
        let text = "\
diff --git a/a.rs b/a.rs
index 1111111..2222222 100644
--- a/a.rs
+++ b/a.rs
@@ -1,3 +1,4 @@ fn main() {
 one
-two
+zwei\r
+drei
 four
@@ -10 +11 @@
-end
\\ No newline at end of file
+end
diff --git a/old name.rs b/new name.rs
similarity index 98%
rename from old name.rs
rename to new name.rs
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/logo.png b/logo.png
new file mode 100644
index 0000000..3333333
Binary files /dev/null and b/logo.png differ
diff --git a/empty b/empty
new file mode 100644
index 0000000..e69de29
diff --git a/type b/type
deleted file mode 100644
index 1..0
--- a/type
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/type b/type
new file mode 120000
index 0..1
--- /dev/null
+++ b/type
@@ -0,0 +1 @@
+mode
\\ No newline at end of file
diff --git a/vendor b/vendor
index 1111111..2222222 160000
--- a/vendor
+++ b/vendor
@@ -1 +1 @@
-Subproject commit 1
+Subproject commit 2
diff --git \"a/b\\303\\244d\\n\" \"b/b\\303\\244d\\n\"
index 1..2 100644
--- \"a/b\\303\\244d\\n\"
+++ \"b/b\\303\\244d\\n\"
@@ -1 +1 @@
--- a/fake
++++ b/fake
";
        expect![[r#"
            Modified "a.rs" +3 -2 
              "fn main() {" 1..
                1 1 Context "one"
                2 - Removed "two"
                - 2 Added "zwei" CR
                - 3 Added "drei"
                3 4 Context "four"
              "" 11..
                10 - Removed "end" unended
                - 11 Added "end"
            Renamed "new name.rs" +0 -0 Renamed from old name.rs. Its content is the same
            Modified "run.sh" +0 -0 Became executable
            Added "logo.png" +0 -0 Binary file added
            Added "empty" +0 -0 Empty file added
            Deleted "type" +0 -1 
              "" 0..
                1 - Removed "x"
            Added "type" +1 -0 New a symbolic link
              "" 1..
                - 1 Added "mode" unended
            Modified "vendor" +1 -1 The submodule points to another commit
              "" 1..
                1 - Removed "Subproject commit 1"
                - 1 Added "Subproject commit 2"
            Modified "bäd\n" +1 -1 
              "" 1..
                1 - Removed "-- a/fake"
                - 1 Added "+++ b/fake"
        "#]]
        .assert_eq(&show(text));
    }

    #[test]
    fn content_cannot_pass_for_another_file() {
        let text = "\
diff --git a/a b/a
--- a/a
+++ b/a
@@ -1,2 +1,3 @@
 diff --git a/x b/x
-@@ -1 +1 @@
+diff --git a/y b/y
+@@ -1,9999 +1,9999 @@
";
        let patch = Patch::parse(text);
        assert_eq!(
            (patch.files.len(), patch.files[0].hunks.len(), patch.files[0].hunks[0].lines.len()),
            (1, 1, 4)
        );
    }

    #[test]
    fn what_is_broken_or_cut_is_read_as_far_as_it_goes() {
        for text in [
            "",
            "\n\n",
            "diff --git ",
            "diff --git a/x b/x",
            "diff --git a/x b/x\n@@ -1,5 +1,5 @@\n one",
            "diff --git a/x b/x\n@@ -1,5 +1,5 @@\n",
            "diff --git a/x b/x\n@@ -x +y @@\n+a",
            "diff --git a/x b/x\n@@ -99999999999 +1 @@\n+a",
            "diff --git a/x b/x\n@@@ -1 -1 +1 @@@\n++a",
            "diff --git a/x b/x\n@@ -4294967295,2 +4294967295,2 @@\n a\n b\n",
            "diff --git a/x b/x\n@@ -1,4294967295 +1,4294967295 @@\n a\n-b\n",
            "diff --git a/x b/x\n@@ -1 +1 @@\n\\ No newline\n",
            "diff --git \"a/x b/x\nrename from \"\nrename to \"\\\n--- \"\n+++ \"",
            "diff --git \u{0}\u{7f}\u{fffd} \u{202e}",
        ] {
            let patch = Patch::parse(text);
            assert!(patch.files.len() <= 1, "{text:?}");
        }
    }
}
