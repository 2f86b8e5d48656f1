//! Puts a large future on the heap, so that neither the stack nor the future that waits for it holds it.
//!
//! `Box::pin(call())` makes the future on the caller's stack first, and an unoptimized build gives each such place of a
//! function room of its own: a `match` of twenty of them took 600 KB, and a step of a run overflowed the 2 MiB of a thread.

use std::future::Future;
use std::pin::Pin;

/// Makes a future on the heap.
#[inline(never)]
pub(crate) fn on_heap<'a, F>(make: impl FnOnce() -> F) -> Pin<Box<dyn Future<Output = F::Output> + Send + 'a>>
where
    F: Future + Send + 'a,
{
    Box::pin(make())
}
