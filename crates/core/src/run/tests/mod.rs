//! What runs do, shown by text: [`check`] plays a script and compares the result of each line.
//!
//! Every line that is played is also checked on its own: a decision leaves the run as it was, and folding
//! what was recorded, read back from its JSON, gives the same run. See [`script`] for the language and
//! [`play`] for those checks.

mod any_items;
mod board;
mod checks;
mod cycle;
mod edits;
mod failed_tasks;
mod family;
mod faults;
mod fork_takes_up;
mod forks;
mod held_above;
mod hints;
mod holds;
mod landings;
mod levels;
mod map_reports;
mod mappings;
mod maps;
mod messages;
mod model;
mod nested;
mod outcomes;
mod outputs;
mod parallel;
mod passes;
mod play;
mod properties;
mod questions;
mod script;
mod seed;
mod signals;
mod soundness;
mod stage;
mod team;
mod told;
mod turns;
mod wild;
mod words;
mod workflows;

use script::check;
