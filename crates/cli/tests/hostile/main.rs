//! Agents that do their worst, against the real binary: what they print, how they run, what they plant, what they claim.
//!
//! Each ends as a named event, and leaves the board, the checkout and the machine as they were. Cases that rest on the
//! sandbox say so and pass over where bubblewrap does not work; the others run with and without it.

mod claims;
mod files;
mod floods;
mod home;
mod planted;
mod processes;
mod reach;
mod refs;
mod support;
