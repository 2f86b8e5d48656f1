//! Runs the demo, keeps what is worth a picture, and writes the file.
//!
//! Only the path of the throwaway repository is changed, because it is long and differs each time. Left out are the
//! hints at the end, which the README gives too, and the lines of housekeeping, so that the window fits on a page.

use std::path::Path;

use super::ansi::{self, Span, plain};
use super::svg;
use crate::error::Error;
use crate::program::Program;
use crate::stage::Verdict;

/// The picture, from the root.
const FILE: &str = "docs/images/demo.svg";
/// What is shown as typed; it is what is run.
const TYPED: &str = "regatta demo --yes";
/// The first words of the demo; what cargo may say comes before them.
const BEGINNING: &str = "Regatta demo";
/// The words before the path of the repository.
const PLACE: &str = "a throwaway repository in ";
/// The path that is shown instead.
const SHORT_PLACE: &str = "/tmp/regatta-demo";
/// How the folder of a demo is called, so that nothing else is ever removed.
const FOLDER_PREFIX: &str = "regatta-demo-";
/// Where the hints begin.
const HINTS: &str = "Where to look next:";

/// What lines say that a newcomer can do without.
const HOUSEKEEPING: &[&str] = &["worktree created: ", " paused", "worktree removed"];

/// Takes the picture again, and prints its name.
pub(crate) fn write(root: &Path) -> Result<Verdict, Error> {
    let printed = run(root)?;
    let place = find_place(&printed);
    if let Some(place) = &place {
        remove(Path::new(place))?;
    }
    let path = root.join(FILE);
    let failed = |action| move |path: &Path, source| Error::File { action, path: path.to_path_buf(), source };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|source| failed("make")(folder, source))?;
    }
    std::fs::write(&path, draw(&printed, place.as_deref()))
        .map_err(|source| failed("write")(&path, source))?;
    eprintln!("wrote {FILE}");
    Ok(Verdict::Passed)
}

/// Returns what the demo prints: its progress, then its summary.
fn run(root: &Path) -> Result<String, Error> {
    let cargo = |arguments| Program::new("cargo", arguments);
    cargo(&["build", "--package", "regatta-cli"]).run(root)?;
    let demo = cargo(&["run", "--quiet", "--package", "regatta-cli", "--", "demo", "--yes"])
        .with("CLICOLOR_FORCE", "1")
        .with("NO_COLOR", "")
        .with("REGATTA_USER", "you");
    let output = demo.capture(root)?;
    let text = [&output.stderr[..], &output.stdout[..]].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    eprint!("{text}");
    Err(Error::Failed { command: demo.to_string(), status: output.status })
}

/// Finds the folder of the repository that the demo made.
fn find_place(printed: &str) -> Option<String> {
    let line = printed.lines().find(|line| line.contains(BEGINNING))?;
    Some(line.split_once(PLACE)?.1.trim_end().to_owned())
}

fn remove(folder: &Path) -> Result<(), Error> {
    let is_demo = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(FOLDER_PREFIX));
    if !is_demo {
        return Ok(());
    }
    std::fs::remove_dir_all(folder).map_err(|source| Error::File {
        action: "remove",
        path: folder.to_path_buf(),
        source,
    })
}

fn draw(printed: &str, place: Option<&str>) -> String {
    let shown = place.map_or_else(|| printed.to_owned(), |place| printed.replace(place, SHORT_PLACE));
    let lines = ansi::parse(&shown).into_iter();
    let mut lines: Vec<Vec<Span>> = lines
        .skip_while(|line| !plain(line).starts_with(BEGINNING))
        .take_while(|line| !plain(line).starts_with(HINTS))
        .filter(|line| !is_housekeeping(&plain(line)))
        .collect();
    while lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    let mut window = ansi::parse(&format!("\u{1b}[32m$\u{1b}[0m \u{1b}[1m{TYPED}\u{1b}[0m"));
    window.extend(lines);
    svg::render("regatta demo", &window)
}

fn is_housekeeping(line: &str) -> bool {
    line.starts_with('#') && HOUSEKEEPING.iter().any(|words| line.contains(words))
}

#[cfg(test)]
mod tests {
    use super::super::svg::tests::read_xml;
    use super::*;
    use crate::root::find_root;
    use crate::tree::Tree;

    const PRINTED: &str = "warning: cargo says something\n\u{1b}[1mRegatta demo\u{1b}[0m  a throwaway repository in \
                           /var/x/regatta-demo-a1\n\n#1   created\n#1   builder paused\n\ndone: in /var/x/regatta-demo-a1\n\n\
                           Where to look next:\n  git log\n";

    /// The kinds of lines that a newcomer should see, in the words that the command line has for them.
    const KINDS: &[&str] = &[
        "The agents are scripted",
        "created: ",
        "assigned to ",
        " works (session ",
        "completed: ",
        "approval requested",
        "rejected: ",
        " works again (session ",
        "approved by ",
        "merged into ",
        "verified",
        "MERGED AS",
        " tasks merged, ",
    ];

    #[test]
    fn the_picture_has_the_demo_and_neither_cargo_nor_the_hints() {
        let place = find_place(PRINTED);
        assert_eq!(place.as_deref(), Some("/var/x/regatta-demo-a1"));
        let texts = read_xml(&draw(PRINTED, place.as_deref()));
        let lines: Vec<&str> = texts.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let expected = [
            "regatta demo",
            "regatta demo",
            "$ regatta demo --yes",
            "Regatta demo  a throwaway repository in /tmp/regatta-demo",
            "#1   created",
            "done: in /tmp/regatta-demo",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn only_a_folder_of_a_demo_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let [demo, other] = ["regatta-demo-a1", "other"].map(|name| parent.path().join(name));
        for folder in [&demo, &other] {
            std::fs::create_dir(folder).unwrap();
            remove(folder).unwrap();
        }
        assert_eq!((demo.exists(), other.exists()), (false, true));
    }

    #[test]
    fn the_committed_picture_is_well_formed_and_has_the_words_of_the_program() {
        let svg = std::fs::read_to_string(find_root().join(FILE)).unwrap();
        let texts = read_xml(&svg);
        let Some(tree) = Tree::load(&find_root()).unwrap() else {
            eprintln!("skipped: not a git checkout");
            return;
        };
        let sources: String = tree
            .texts()
            .filter(|(path, _)| path.starts_with("crates/cli/src/"))
            .map(|(_, text)| text)
            .collect();
        for kind in KINDS {
            assert!(texts.contains(kind), "the picture does not show `{kind}`; run `cargo xtask picture`");
            assert!(sources.contains(kind.trim()), "the program no longer says `{kind}`; fix KINDS");
        }
        assert!(svg.lines().count() > 30 && !texts.contains(FOLDER_PREFIX), "{texts}");
    }
}
