//! Leases as SQL. The rules are in [`crate::LeaseRequest`]; this module only stores leases.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, Row, params};

use crate::lease::expiry;
use crate::{Error, Lease, LeaseAnswer, LeaseRequest, LeaseToken};

use super::failure::Failure;
use super::rows::{Source, timestamp, uuid};

pub(super) fn take(connection: &Connection, request: &LeaseRequest) -> Result<LeaseAnswer, Failure> {
    let lease = match request.decide(find(connection, &request.name)?) {
        Ok(lease) => lease,
        Err(held) => return Ok(LeaseAnswer::Held(held)),
    };
    connection.execute(
        "INSERT OR REPLACE INTO leases (name, holder, token, since, expires) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![
            lease.name,
            lease.holder,
            &lease.token.0.as_bytes()[..],
            lease.since.to_string(),
            lease.expires.to_string()
        ],
    )?;
    Ok(LeaseAnswer::Taken)
}

pub(super) fn renew(
    connection: &Connection,
    token: LeaseToken,
    now: Timestamp,
    ttl: Duration,
) -> Result<(), Failure> {
    let renewed = connection.execute(
        "UPDATE leases SET expires = ?2 WHERE token = ?1",
        params![&token.0.as_bytes()[..], expiry(now, ttl).to_string()],
    )?;
    if renewed == 0 { Err(Error::LeaseLost { token }.into()) } else { Ok(()) }
}

pub(super) fn release(connection: &Connection, token: LeaseToken) -> Result<(), Failure> {
    connection.execute("DELETE FROM leases WHERE token = ?1", [&token.0.as_bytes()[..]])?;
    Ok(())
}

pub(super) fn find(connection: &Connection, name: &str) -> Result<Option<Lease>, Failure> {
    let mut find =
        connection.prepare("SELECT name, holder, token, since, expires FROM leases WHERE name = ?1")?;
    let mut rows = find.query([name])?;
    rows.next()?.map(read).transpose()
}

fn read(row: &Row<'_>) -> Result<Lease, Failure> {
    let source = |column| Source { table: "leases", column, near: 0 };
    Ok(Lease {
        name: row.get(0)?,
        holder: row.get(1)?,
        token: LeaseToken(uuid(&row.get::<_, Vec<u8>>(2)?, source("token"))?),
        since: timestamp(&row.get::<_, String>(3)?, source("since"))?,
        expires: timestamp(&row.get::<_, String>(4)?, source("expires"))?,
    })
}
