//! The texts of a run's files: what is written reads back, and what others write is read or refused at a place.

mod faults;
mod round_trips;
