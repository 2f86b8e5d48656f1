//! What a client may cost.

use std::time::Duration;

/// The limits of the server; tests use smaller ones.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How long a client may take to send the head of a request, counted from the end of the request before.
    pub head_time: Duration,
    /// How long a client may take to send a body.
    pub body_time: Duration,
    /// How long a client may take to read any of what was sent to it.
    pub write_time: Duration,
    /// How many bytes the head of a request may have.
    pub head_bytes_max: usize,
    /// How many headers a request may have.
    pub headers_max: usize,
    /// How many bytes a body may have; the largest is a task file or a PRD.
    pub body_bytes_max: usize,
    /// How many connections may be open.
    pub connections_max: usize,
    /// How many of them may come from one address. On loopback nearly all do.
    pub connections_per_address_max: usize,
    /// How long open requests may take to end when the server stops.
    pub stop_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            head_time: Duration::from_secs(15),
            body_time: Duration::from_secs(30),
            write_time: Duration::from_secs(30),
            head_bytes_max: 64 * 1024,
            headers_max: 100,
            body_bytes_max: 4 * 1024 * 1024,
            connections_max: 4096,
            connections_per_address_max: 3072,
            stop_time: Duration::from_secs(2),
        }
    }
}
