//! The server through real sockets: access, limits, the objects and the changes.

mod access;
mod changes;
mod client;
mod durable;
mod endpoints;
mod limits;
mod mcp;
mod metrics;
mod pages;
mod proxy;
mod reads;
mod recoveries;
mod recovery;
mod review;
mod streams;
mod task_file;
