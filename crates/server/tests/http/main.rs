//! The server through real sockets: access, limits, the objects and the changes.

mod access;
mod changes;
mod client;
mod endpoints;
mod limits;
mod pages;
mod reads;
mod recovery;
mod review;
mod streams;
mod task_file;
