//! Runs the engine so that a panic inside it cannot take the caller down.
//!
//! A panic of the engine is a bug in the engine and must not kill a run at every resume. It is caught here, printed
//! nowhere, and returned as a fault of the expression. Nothing of the failed evaluation is kept, so the next one
//! starts fresh. The ledger also stops an evaluation by unwinding, with [`Stop`]; that never reaches the panic hook.
//!
//! A process has one panic hook for all threads. The first guarded run therefore wraps the existing hook, and the
//! wrapper is silent only on a thread that is inside a guarded run.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use crate::fault::Fault;

/// The payload with which the ledger unwinds.
pub(crate) struct Stop(pub(crate) Fault);

/// The most characters of a panic's message that are kept: it may quote a long value.
const MESSAGE_CHARACTERS_MAX: usize = 200;

thread_local! {
    /// Whether this thread is inside of a guarded run.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs what the engine is asked to do, and returns what made it leave early as a fault.
///
/// The caller must not use again what the unwinding passed through, except for what it knows to be intact.
pub(crate) fn guarded<R>(run: impl FnOnce() -> R) -> Result<R, Fault> {
    stay_silent_when_guarded();
    let was_guarded = IS_GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(run));
    IS_GUARDED.set(was_guarded);
    outcome.map_err(|payload| match payload.downcast::<Stop>() {
        Ok(stop) => stop.0,
        Err(payload) => Fault::of_panic(&message(payload.as_ref())),
    })
}

fn stay_silent_when_guarded() {
    static PLACED: Once = Once::new();
    PLACED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_GUARDED.get() {
                before(info);
            }
        }));
    });
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").chars().take(MESSAGE_CHARACTERS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_fault_and_the_next_run_is_guarded_again() {
        for _ in 0..2 {
            let fault = guarded(|| -> u32 { panic!("no digit {}", "x".repeat(500)) }).expect_err("a panic");
            assert_eq!((fault.jsonata_code(), fault.limit()), ("U1000", None));
            assert!(fault.to_string().contains("no digit xxx"), "{fault}");
            assert!(fault.to_string().len() < 300, "{fault}");
        }
        assert_eq!(guarded(|| 3), Ok(3));
        assert!(!IS_GUARDED.get());
    }

    #[test]
    fn a_run_inside_of_another_leaves_it_guarded() {
        assert_eq!(guarded(|| (guarded(|| 1), IS_GUARDED.get())), Ok((Ok(1), true)));
    }
}
