//! The store in memory keeps the contract.

use std::sync::Arc;

use regatta_store::contract::sample::Subject;
use regatta_store::{MemoryStore, contract};

async fn make() -> (Subject, ()) {
    (Arc::new(MemoryStore::new()), ())
}

contract::suite!(make);
