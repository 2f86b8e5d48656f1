//! One task file that programs write to which know nothing of each other: an agent, three kinds of editors, a reader.
//!
//! Each puts tokens into the file, such as `@append-12@`, and writes down those whose write has ended. What one editor
//! overwrites before anybody could read it is lost on any disk; so they take turns, and one that saves an old text waits
//! until the log has what the others wrote. The engine and the verbs are not part of that: they come in at any time.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The last line of whatever anybody writes.
pub(crate) const END: &str = "<!-- end -->";
/// Where the notes of the editors begin.
pub(crate) const NOTES: &str = "## Notes";

/// How long an editor takes from opening the file to writing, and from one half of its text to the other; the second is
/// taken every few times, and is longer than the engine takes to write and look again.
const SLOW: [Duration; 2] = [Duration::from_millis(4), Duration::from_millis(80)];
const SLOWER_EVERY: u64 = 4;
/// How long an editor thinks.
const THINK: Duration = Duration::from_millis(25);
/// How long an old text waits for the log before a new one is taken instead.
const OLD_TEXT_WAITS: Duration = Duration::from_secs(2);
/// Above this an editor tidies up, so that the file stays of a size that people have.
const NOTES_BYTES_MAX: usize = 8_000;

/// The file and what its writers know.
pub(crate) struct Endpoint {
    path: PathBuf,
    turn: Mutex<()>,
    /// Odd while somebody writes in place, so that the file is not whole.
    in_place: AtomicU64,
    is_over: AtomicBool,
    /// Tokens whose write has ended.
    pub(crate) written: Mutex<BTreeSet<String>>,
    /// Tokens that the log has.
    pub(crate) logged: Mutex<BTreeSet<String>>,
}

/// What a reader has seen.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    pub(crate) judged: u64,
    pub(crate) passed_over: u64,
}

impl Endpoint {
    pub(crate) fn new(path: PathBuf) -> Self {
        let (turn, in_place, is_over) = (Mutex::default(), AtomicU64::new(0), AtomicBool::new(false));
        Endpoint { path, turn, in_place, is_over, written: Mutex::default(), logged: Mutex::default() }
    }

    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Writes down that a write has ended.
    pub(crate) fn note(&self, token: &str) {
        lock(&self.written).insert(token.to_owned());
    }

    /// Appends entries in place, as an agent does that does not care where in the file they belong.
    pub(crate) fn append_sessions(&self) {
        self.append("agent", |number, token| {
            format!("\n### Session {number} - now\n**Did:** {token}\n\n{END}\n")
        });
    }

    /// Appends notes in place.
    pub(crate) fn append_notes(&self) {
        self.append("append", |_, token| format!("\n- a note {token}\n\n{END}\n"));
    }

    fn append(&self, name: &str, block: impl Fn(u64, &str) -> String) {
        for number in 1.. {
            let Some(turn) = self.take_turn() else { return };
            let token = format!("@{name}-{number}@");
            let mut file = File::options().append(true).open(&self.path).expect("the file can be opened");
            pass(slow(number));
            self.write_in_place(|| {
                file.write_all(block(number, &token).as_bytes()).expect("it can be written")
            });
            drop(file);
            self.note(&token);
            drop(turn);
            pass(THINK);
        }
    }

    /// Empties the file and writes it again, in two halves.
    pub(crate) fn truncate_and_write(&self) {
        self.rewrite("truncate", |number, text| {
            self.write_in_place(|| {
                let mut file = File::create(&self.path).expect("the file can be emptied");
                pass(slow(number));
                let (begin, rest) = text.split_at(4);
                file.write_all(begin.as_bytes()).expect("it can be written");
                pass(slow(number));
                file.write_all(rest.as_bytes()).expect("it can be written");
            });
        });
    }

    /// Writes another file and renames it over this one.
    pub(crate) fn rename_over(&self) {
        self.rewrite("rename", |_, text| {
            let aside = self.path.with_file_name("edited.swp");
            std::fs::write(&aside, text).expect("it can be written");
            std::fs::rename(&aside, &self.path).expect("it can be renamed");
        });
    }

    /// Adds a note to the text that is there, or, every other time, to one that was read a while ago.
    fn rewrite(&self, name: &str, save: impl Fn(u64, &str)) {
        for number in 1.. {
            let Some(turn) = self.take_turn() else { return };
            let old = self.read();
            drop(turn);
            pass(THINK);
            let Some(turn) = self.take_turn() else { return };
            let is_old = number % 2 == 0 && self.wait_for_log();
            let text = if is_old { old } else { self.read() };
            let token = format!("@{name}-{number}@");
            save(number, &format!("{}\n- a note {token}\n\n{END}\n", self.tidy(text).trim_end()));
            self.note(&token);
            drop(turn);
        }
    }

    /// Takes the notes out once they are many and the log has all of them.
    fn tidy(&self, text: String) -> String {
        let Some(notes) = text.find(NOTES) else { return text };
        let is_long = text.len() - notes > NOTES_BYTES_MAX;
        if is_long && self.wait_for_log() {
            return text[..notes + NOTES.len()].to_owned() + "\n";
        }
        text
    }

    /// Waits until the log has whatever was written so far; says whether it came to that.
    fn wait_for_log(&self) -> bool {
        let begin = Instant::now();
        let missing = lock(&self.written).clone();
        while !missing.is_subset(&lock(&self.logged)) {
            if begin.elapsed() > OLD_TEXT_WAITS {
                return false;
            }
            pass(Duration::from_millis(2));
        }
        true
    }

    /// Reads the file a thousand times a second; every read is of a whole version.
    pub(crate) fn read_on(&self) -> Reads {
        let mut reads = Reads::default();
        while !self.is_over() {
            let before = self.in_place.load(Ordering::SeqCst);
            let read = std::fs::read(&self.path);
            let is_undisturbed = before.is_multiple_of(2) && self.in_place.load(Ordering::SeqCst) == before;
            if is_undisturbed {
                judge(&read.expect("the file is always there"));
                reads.judged += 1;
            } else {
                reads.passed_over += 1;
            }
            pass(Duration::from_millis(1));
        }
        reads
    }

    fn read(&self) -> String {
        std::fs::read_to_string(&self.path).expect("the file can be read")
    }

    fn write_in_place(&self, write: impl FnOnce()) {
        self.in_place.fetch_add(1, Ordering::SeqCst);
        write();
        self.in_place.fetch_add(1, Ordering::SeqCst);
    }

    fn take_turn(&self) -> Option<std::sync::MutexGuard<'_, ()>> {
        let turn = lock(&self.turn);
        (!self.is_over()).then_some(turn)
    }
}

/// Fails unless the bytes are a whole version of the file.
fn judge(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).expect("the file is text");
    let end = text.trim_end();
    // A conflict that was kept stands in a fence.
    let is_end = [END, "```", "~~~"].iter().any(|mark| end.ends_with(mark));
    let is_whole = text.starts_with("# Task #1: ") && is_end;
    let parts = ["\n## 0. ", "\n## 1. ", "\n## 3. ", "\n## 4. "].map(|part| text.find(part));
    assert!(is_whole && parts.iter().all(Option::is_some) && parts.is_sorted(), "torn:\n{text}");
}

/// Returns the tokens in a text.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = String> + '_ {
    let is_token = |part: &&str| {
        let (name, number) = part.rsplit_once('-').unwrap_or_default();
        !name.is_empty()
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && part.len() < 32
    };
    text.split('@').filter(is_token).map(|part| format!("@{part}@"))
}

fn slow(number: u64) -> Duration {
    SLOW[usize::from(number.is_multiple_of(SLOWER_EVERY))]
}

/// Lets time pass: writers have a pace, and nothing waits for them here.
pub(crate) fn pass(span: Duration) {
    std::thread::park_timeout(span);
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
