//! What a check may spend on trying conditions: steps, counted over the whole workflow.
//!
//! Most conditions take a few steps. One that takes many would be tried on thousands of samples, so each is first tried
//! with few steps, then with more, and pays for each attempt. What cannot be paid for is not tried, and the check says
//! so once. Everything is counted, so that a check ends the same way on every machine.

use std::cell::{Cell, RefCell};

use regatta_expr::{Fault, Limit, STEPS_MAX};

use crate::fault::Position;
use crate::step::StepFault;

/// The steps of one attempt. Nearly all conditions are through after the first; the last are those that a run has.
const STEPS_TIERS: [u64; 4] = [100, 2_000, 20_000, STEPS_MAX];

/// The most steps for one expression of one node: the first attempts on all samples, or a few of the dearest.
const STEPS_OF_EXPRESSION_MAX: u64 = 2_000_000;

/// The most steps for a whole check: a few seconds at worst, and far above what any workflow that we know of takes.
const STEPS_OF_CHECK_MAX: u64 = 100_000_000;

/// What is left for a check.
#[derive(Debug)]
pub(super) struct Budget {
    steps_left: Cell<u64>,
    /// The expression that could not be paid for first.
    refused: RefCell<Option<Position>>,
}

/// What one expression has taken, and how many steps it needs at a time.
#[derive(Debug)]
pub(super) struct Purse {
    steps_left: Cell<u64>,
    tier: Cell<usize>,
}

impl Default for Purse {
    fn default() -> Purse {
        Purse { steps_left: Cell::new(STEPS_OF_EXPRESSION_MAX), tier: Cell::new(0) }
    }
}

impl Budget {
    pub(super) fn new() -> Budget {
        Budget { steps_left: Cell::new(STEPS_OF_CHECK_MAX), refused: RefCell::new(None) }
    }

    /// Returns where the first expression stands that was not tried on all samples, and begins anew to look for one.
    pub(super) fn take_refused(&self) -> Option<Position> {
        self.refused.take()
    }

    /// Attempts something within ever more steps; nothing if it cannot be paid for.
    pub(super) fn attempt<T>(
        &self,
        purse: &Purse,
        at: &Position,
        mut attempt: impl FnMut(u64) -> Result<T, StepFault>,
    ) -> Option<Result<T, StepFault>> {
        loop {
            let tier = purse.tier.get();
            let steps = STEPS_TIERS[tier];
            if !self.pay(purse, steps) {
                self.refused.borrow_mut().get_or_insert_with(|| at.clone());
                return None;
            }
            match attempt(steps) {
                Err(fault) if is_of_steps(&fault) && tier + 1 < STEPS_TIERS.len() => purse.tier.set(tier + 1),
                result => return Some(result),
            }
        }
    }

    fn pay(&self, purse: &Purse, steps: u64) -> bool {
        match (self.steps_left.get().checked_sub(steps), purse.steps_left.get().checked_sub(steps)) {
            (Some(of_check), Some(of_purse)) => {
                self.steps_left.set(of_check);
                purse.steps_left.set(of_purse);
                true
            }
            _ => false,
        }
    }
}

fn is_of_steps(fault: &StepFault) -> bool {
    matches!(fault, StepFault::Evaluation { fault: Fault::Limit { which: Limit::Steps, .. }, .. })
}
