//! Runs of workflows on the real engine, store and repository, with scripted agents.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod begun_again;
mod board;
mod boards_above;
mod cancels;
mod children;
mod edits;
mod facts;
mod families;
mod files;
mod fork_nodes;
mod forks;
mod lost_sessions;
mod lost_worktrees;
mod messages;
mod moments;
mod next_move;
mod outcomes;
mod parallel;
mod recordings;
mod recordings_decided;
mod recordings_of_children;
mod recordings_of_people;
mod release;
mod signals;
mod stops;
mod support;
mod trouble;
