//! Output of any size and shape is counted and not kept, and does nothing to a terminal.

use crate::support::{Attack, Walls, assert_harmless, run_measured, walls};
use std::io::{Read, Seek, SeekFrom};

const GROWTH_BYTES_MAX: u64 = 50_000_000;

/// Runs a quiet agent and a loud one, and compares the memory of their engines.
fn assert_little_memory(walls: Walls, script: &str, column: &str) -> Attack {
    let quiet = Attack::new(walls, "echo work > work.txt", "");
    let (_, least) = run_measured(&quiet);
    let loud = Attack::new(walls, script, "");
    let (said, most) = run_measured(&loud);
    assert_eq!(loud.task()["column"], column, "{said:?}");
    let growth = most.saturating_sub(least);
    assert!(growth < GROWTH_BYTES_MAX, "memory grew by {growth} bytes, from {least} to {most}");
    loud.assert_unharmed();
    loud
}

#[test]
fn one_line_of_a_gigabyte() {
    let script = "head -c 1000000000 /dev/zero | tr \"\\000\" x; echo work > work.txt";
    assert_little_memory(walls()[0], script, "waiting_approval");
}

/// One prepared piece of lines is written again and again by one program, so that making the output costs little.
#[test]
fn ten_gigabytes_of_lines() {
    let script = "yes \"$(printf %08000d 0)\" | head -c 10000000 > /tmp/lines-$$; \
        cat $(yes /tmp/lines-$$ | head -n 1000); rm /tmp/lines-$$; echo work > work.txt";
    let attack = assert_little_memory(walls()[0], script, "waiting_approval");
    let (kept, left_out) = count_output(&attack);
    assert!(kept + left_out > 10_000_000_000, "{kept} bytes were kept and {left_out} left out");
}

/// Returns the size of a transcript that is full, and how many bytes it says were left out.
fn count_output(attack: &Attack) -> (u64, u64) {
    let path = attack.project.path().join(".git/regatta/sessions/task-1-session-1.jsonl");
    let mut file = std::fs::File::open(path).expect("a transcript");
    let kept = file.metadata().expect("a file").len();
    file.seek(SeekFrom::Start(kept.saturating_sub(1_000))).expect("a file");
    let mut end = String::new();
    file.read_to_string(&mut end).expect("text");
    let (before, _) = end.rsplit_once(" bytes of text were left out").expect("it was too much");
    let number = before.rsplit('"').next().and_then(|number| number.parse().ok());
    (kept, number.expect("a number"))
}

#[test]
fn bytes_that_are_no_text() {
    for walls in walls() {
        let script = r#"head -c 1000000 /dev/urandom; head -c 1000000 /dev/urandom >&2; printf '\377\376\000\n'
            printf '{"summary": "caf\303"}\n'; echo work > work.txt"#;
        let attack = Attack::new(walls, &script.replace('\'', "\""), "");
        let said = attack.run();
        assert_eq!(attack.task()["column"], "waiting_approval", "{said:?}");
        attack.assert_unharmed();
    }
}

/// Clears the screen, changes the title, moves the cursor, and writes to the clipboard.
const BOMB: &str = r"\033[2J\033]0;owned\007\033[1;1H\033]52;c;ZXZpbA==\007\233\r\b";

#[test]
fn escape_sequences_do_not_reach_a_terminal() {
    for walls in walls() {
        let json = r#"{\"summary\": \"\\u001b[2J\\u009b31m\\u0007 done\"}"#;
        let script = format!(
            "printf \"{BOMB}\"; printf \"{BOMB}\" >&2; touch \"$(printf \"{BOMB}\" | tr -d /)x\"; echo \"{json}\""
        );
        let attack = Attack::new(walls, &script, "");
        let said = attack.run();
        assert_eq!(attack.task()["column"], "waiting_approval", "{said:?}");
        assert_harmless(&said.stdout);
        assert_harmless(&said.stderr);
        for verb in [&["task", "show", "1"][..], &["events"], &["task", "list"], &["task", "diff", "1"]] {
            let shown = attack.project.run(verb);
            assert_eq!(shown.code, Some(0), "{shown:?}");
            assert_harmless(&shown.stdout);
            assert_harmless(&shown.stderr);
        }
        attack.assert_unharmed();
    }
}

#[test]
fn escape_sequences_of_a_failure_do_not_reach_a_terminal() {
    for walls in walls() {
        let attack = Attack::new(walls, &format!("printf \"{BOMB}\\n\" >&2; exit 3"), "");
        let said = attack.run();
        assert_eq!(said.code, Some(1));
        assert_harmless(&said.stderr);
        assert_eq!(attack.error(), ("AGENT_SESSION_FAILED".to_owned(), "crash".to_owned()));
        assert_harmless(&attack.project.run(&["task", "show", "1"]).stdout);
        attack.assert_unharmed();
    }
}

#[test]
fn folders_of_any_depth_are_removed() {
    // As deep at once as a path may be long, and each goes to the bottom of the next.
    let script = r#"
        echo work > work.txt
        chain="$(printf "d/%.0s" $(seq 1500))"
        for base in "$HOME" /tmp; do
            cd "$base" || exit; mkdir -p deep
            for number in $(seq 20); do mkdir -p "next/$chain" && mv deep "next/${chain}deep" && mv next deep; done
        done
        true
    "#;
    if !crate::support::has_sandbox() {
        return;
    }
    let attack = Attack::new(Walls::Sandbox, script, "");
    let said = attack.run();
    assert_eq!(attack.task()["column"], "waiting_approval", "{said:?}");
    let left =
        std::fs::read_dir(attack.project.path().join(".git/regatta/homes/task-1-hostile")).expect("a home");
    assert_eq!(left.count(), 0, "the home was swept");
    attack.assert_unharmed();
}
