//! The chores by name: what `cargo xtask` was asked for, and doing it.

use std::process::ExitCode;
use std::time::Instant;

use crate::error::Error;
use crate::root::find_root;
use crate::stage::{Stage, Verdict, run_all};
use crate::stages::Size;
use crate::{agents, docs, licences, picture, schemathesis, stages, tidy};

const USAGE: &str = "\
usage: cargo xtask <chore>

  test            everything that CI checks, in order; stops at the first stage that fails
  test --full     the same, with the slow suites at their full size
  quick           format, clippy and the tests of the pure crates, for the edit loop
  tidy            the rules of the codebase that the compiler does not know
  docs            writes the generated pages under docs/reference
  docs --check    fails when one of them is not as generated
  licences        fails when a dependency has a licence that is not allowed
  agents          installs the agent programs that some tests run, with npm, into target/agent-programs
  schemathesis    installs what tests the API against its description, with pip, into target/schemathesis
  picture         runs the demo and draws docs/images/demo.svg, the picture of the README
  screenshots     keeps a picture of every view of the board in docs/screenshots, with Chromium
";

/// Wrong usage, as for every program of ours.
const EXIT_USAGE: u8 = 2;

/// What can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chore {
    Test(Size),
    Quick,
    Tidy,
    WriteDocs,
    CheckDocs,
    Licences,
    Agents,
    Schemathesis,
    Picture,
    Screenshots,
    Help,
}

/// Does the chore that the arguments ask for, and returns the exit code of the program.
pub fn run(arguments: impl Iterator<Item = String>) -> ExitCode {
    let arguments: Vec<String> = arguments.collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let Some(chore) = parse(&words) else {
        eprint!("error: no such chore: `{}`\n\n{USAGE}", words.join(" "));
        return ExitCode::from(EXIT_USAGE);
    };
    let root = find_root();
    let result = match chore {
        Chore::Help => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Chore::Test(size) => return run_stages(stages::all(&root, size)),
        Chore::Quick => return run_stages(stages::quick(&root)),
        Chore::Tidy => tidy::check(&root),
        Chore::WriteDocs => docs::write(&root),
        Chore::CheckDocs => docs::check(&root),
        Chore::Licences => licences::check(&root),
        Chore::Agents => agents::install(&root),
        Chore::Schemathesis => schemathesis::ensure(&root),
        Chore::Picture => picture::write(&root),
        Chore::Screenshots => stages::screenshots(&root),
    };
    report(result)
}

fn parse(words: &[&str]) -> Option<Chore> {
    Some(match words {
        ["test"] => Chore::Test(Size::Small),
        ["test", "--full"] => Chore::Test(Size::Full),
        ["quick"] => Chore::Quick,
        ["tidy"] => Chore::Tidy,
        ["docs"] => Chore::WriteDocs,
        ["docs", "--check"] => Chore::CheckDocs,
        ["licences"] => Chore::Licences,
        ["agents"] => Chore::Agents,
        ["schemathesis"] => Chore::Schemathesis,
        ["picture"] => Chore::Picture,
        ["screenshots"] => Chore::Screenshots,
        ["help" | "--help" | "-h"] => Chore::Help,
        _ => return None,
    })
}

fn run_stages(stages: Vec<Stage<'_>>) -> ExitCode {
    let begun = Instant::now();
    let passed = run_all(stages, &mut std::io::stderr(), &|| begun.elapsed());
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn report(result: Result<Verdict, Error>) -> ExitCode {
    match result {
        Ok(Verdict::Passed) => ExitCode::SUCCESS,
        Ok(Verdict::Skipped(why)) => {
            eprintln!("skipped: {why}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {}", error.render());
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chore_has_its_words_and_nothing_else_is_one() {
        assert_eq!(parse(&["test"]), Some(Chore::Test(Size::Small)));
        assert_eq!(parse(&["test", "--full"]), Some(Chore::Test(Size::Full)));
        assert_eq!(parse(&["quick"]), Some(Chore::Quick));
        assert_eq!(parse(&["tidy"]), Some(Chore::Tidy));
        assert_eq!(parse(&["docs"]), Some(Chore::WriteDocs));
        assert_eq!(parse(&["docs", "--check"]), Some(Chore::CheckDocs));
        assert_eq!(parse(&["licences"]), Some(Chore::Licences));
        assert_eq!(parse(&["agents"]), Some(Chore::Agents));
        assert_eq!(parse(&["schemathesis"]), Some(Chore::Schemathesis));
        assert_eq!(parse(&["picture"]), Some(Chore::Picture));
        assert_eq!(parse(&["screenshots"]), Some(Chore::Screenshots));
        assert_eq!(parse(&["--help"]), Some(Chore::Help));
        for bad in [&[][..], &["tests"], &["docs", "--chek"], &["test", "tidy"]] {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
    }
}
