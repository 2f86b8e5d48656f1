//! The store in one SQLite file, shared by any number of processes.
//!
//! Start with `handle.rs`, the store itself. Writes go through one connection (`writer.rs`), which makes one commit,
//! and so one fsync, of all that is waiting (`transaction.rs`); reads go through a few connections (`readers.rs`).
//! `create.rs` makes the file, `open.rs` opens or refuses it, `schema.rs` holds its tables and migrations, `runway.rs` gives
//! its WAL room, `file.rs` moves and copies it. The rest is SQL by subject.

mod append;
mod create;
mod failure;
mod file;
mod handle;
mod known;
mod leases;
mod lists;
mod load;
mod open;
mod packed;
mod readers;
mod rows;
mod runway;
mod schema;
mod signs;
mod transaction;
mod verify;
mod waiting;
mod wal_watch;
mod writer;

pub use file::DatabaseFile;
pub use handle::SqliteStore;
pub use open::OpenMode;
