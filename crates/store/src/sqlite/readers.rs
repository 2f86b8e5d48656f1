//! A few connections that only read, used by blocking tasks where there are threads for these.
//!
//! Each read is one transaction, so it sees a consistent state of the log. A connection is opened when it is
//! first needed and kept; one that has failed is closed instead of being used again.

use std::sync::{Arc, Mutex};

use rusqlite::Connection;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;

use crate::Error;

use super::failure::{Failure, Place};
use super::open::open_reader;

/// How many reads run at once; more would only contend for the same few processors and pages.
const READERS_MAX: usize = 4;

/// The connections that read.
#[derive(Debug)]
pub(super) struct Readers {
    place: Arc<Place>,
    permits: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Readers {
    pub(super) fn new(place: Arc<Place>) -> Self {
        Self { place, permits: Arc::new(Semaphore::new(READERS_MAX)), idle: Arc::default() }
    }

    /// Runs `work` in a transaction of one of the connections.
    pub(super) async fn read<T, Work>(&self, action: &'static str, work: Work) -> Result<T, Error>
    where
        T: Send + 'static,
        Work: FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    {
        let (place, idle) = (Arc::clone(&self.place), Arc::clone(&self.idle));
        let stopped = || Error::Stopped { path: self.place.path.clone() };
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| stopped())?;
        let read = move || {
            let _permit = permit;
            read_on(&place, &idle, work).map_err(|failure| place.explain(action, failure))
        };
        if has_one_thread() {
            return read();
        }
        tokio::task::spawn_blocking(read).await.map_err(|_| stopped())?
    }
}

/// Tells whether the runtime has no thread but this one.
///
/// A program that chose such a runtime does one thing after the other: it gains nothing from a thread for its reads, and
/// would pay for making it.
fn has_one_thread() -> bool {
    Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::CurrentThread)
}

fn read_on<T>(
    place: &Place,
    idle: &Mutex<Vec<Connection>>,
    work: impl FnOnce(&Connection) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let kept = idle.lock().expect("no code that holds the list panics").pop();
    let mut connection = match kept {
        Some(connection) => connection,
        None => open_reader(place)?,
    };
    let transaction = connection.transaction()?;
    let outcome = work(&transaction)?;
    transaction.finish()?;
    idle.lock().expect("no code that holds the list panics").push(connection);
    Ok(outcome)
}
