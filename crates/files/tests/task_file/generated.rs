//! Documents that nobody wrote: nothing of them is lost, and edits touch only their part.

use regatta_files::TaskFile;

use crate::edits::Edit;
use crate::random::{Random, document};

/// As many as the format's contract asks for.
const DOCUMENTS: u64 = 100_000;

/// Documents in which an edit was refused are of no use; most must not be.
const EDITED_MIN: u64 = DOCUMENTS / 2;

fn check(seed: u64) -> bool {
    let mut random = Random::of(seed);
    let text = document(&mut random);
    let file = TaskFile::parse(text.clone());
    assert_eq!(file.text(), text);
    check_places(&file);
    Edit::any(&mut random).check(&file)
}

/// What was found lies inside the text, in order, and on the borders of characters.
fn check_places(file: &TaskFile) {
    let text = file.text();
    let mut end = 0;
    for span in file.sections() {
        assert!(span.range.start >= end && text.get(span.range.clone()).is_some(), "{span:?}");
        assert_eq!(span.bytes, span.range.len());
        end = span.range.end;
    }
    for session in file.sessions() {
        assert_eq!(text.get(session.range.clone()), Some(session.text.as_str()));
    }
    for criterion in file.criteria() {
        assert!(text[criterion.range.clone()].contains(']'), "{criterion:?}");
    }
    let lines = text.lines().count() + text.matches('\r').count() + 1;
    assert!(file.faults().iter().all(|fault| fault.line <= lines && fault.column >= 1));
    assert!(file.unknown().iter().all(|unknown| unknown.line <= lines));
}

#[test]
fn generated_documents_round_trip_and_edits_are_local() {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let edited: u64 = std::thread::scope(|scope| {
        let run = |first: u64| {
            move || {
                let seeds = (first..DOCUMENTS).step_by(threads as usize);
                seeds.filter(|seed| check_seed(*seed)).count() as u64
            }
        };
        let handles: Vec<_> = (0..threads).map(|first| scope.spawn(run(first))).collect();
        handles.into_iter().map(|handle| handle.join().expect("a seed failed; its number is above")).sum()
    });
    assert!(edited > EDITED_MIN, "only {edited} of {DOCUMENTS} documents could be edited");
}

fn check_seed(seed: u64) -> bool {
    std::panic::catch_unwind(|| check(seed)).unwrap_or_else(|cause| {
        eprintln!("the document of seed {seed} failed");
        std::panic::resume_unwind(cause)
    })
}
