//! Durability of the binary: killed anywhere, run by many at once, stopped and taken over.
//!
//! Every case ends with the same question: does the world still add up ([`invariants`])? Engines are killed at the
//! named points of `regatta_engine::CRASH_POINTS` ([`crash`], [`crash_files`]) and after every event of a task's life ([`kill`]), and over
//! a run with children ([`kill_map`]) and the files of runs ([`run_files`]); many
//! processes work at once ([`parallel`]); and engines follow one another ([`engines`]).

mod checkout;
mod crash;
mod crash_files;
mod endpoint;
mod engines;
mod follower;
mod invariants;
mod kill;
mod kill_map;
mod kill_writers;
mod parallel;
mod run_files;
mod scenario;
mod task_file;
mod world;
mod writers;
