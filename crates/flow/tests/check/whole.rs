//! Whole workflows: those that are shipped are clean, and one that is printed in a design is not.

use expect_test::expect_file;
use regatta_flow::{check, render_faults};

use crate::folders::{beside, load, shipped, shipped_names};

#[test]
fn what_is_shipped_has_no_fault_at_any_level() {
    let names = shipped_names();
    assert!(names.contains(&"speckit".to_owned()) && names.contains(&"cycle".to_owned()), "{names:?}");
    for name in names {
        let folder = shipped(&name);
        let faults = check(&load(&folder));
        assert!(faults.is_empty(), "{name}\n{}", render_faults(&faults, &folder));
    }
}

/// Its edges say neither what follows a cap, nor who raises the index, nor how a run ends.
#[test]
fn the_printed_edges_of_seed_000_lack_what_they_lack() {
    let folder = beside("seed-000");
    let faults = check(&load(&folder));
    expect_file!["seed-000/faults.txt"].assert_eq(&render_faults(&faults, &folder));
    let told: Vec<(&str, usize)> = faults.iter().map(|fault| (fault.rule, fault.line)).collect();
    for rule in ["cap-without-way-out", "loop-without-cap", "no-way-to-end"] {
        assert!(told.iter().any(|(found, _)| *found == rule), "{rule} in {told:?}");
    }
}
