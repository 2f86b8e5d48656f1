//! Workflow graphs as data: parse, check, and pick the edge that holds.
//!
//! Start with [`Workflow::load`]: it reads a [`Folder`] of files and reports every syntax error at once. [`check`] then
//! looks for mistakes in the graph. A step is made of plain functions over a [`Trial`], which adds to the state what
//! expressions may read, applies changes in place, and restores everything at the end. A [`Sheet`]
//! owns a state and hands out trials of it.
//!
//! This crate knows neither runs nor tasks, opens no file and reads no clock: files, times and results are passed in.
//! Its answers are written to the log by others, so that a replay evaluates nothing.

mod check;
mod expression;
mod fault;
mod fence;
mod fill;
mod fits;
mod folder;
mod gaps;
mod graph;
mod import;
mod load;
mod merge;
mod name;
mod nearest;
mod nesting;
mod outcome;
mod patch;
mod path;
mod place;
mod prompt_filters;
mod prompt_rules;
mod role;
mod schema;
mod sheet;
mod shown;
mod source;
mod step;
mod trial;
mod variables;
mod workflow;

pub use check::{check, check_folder, render_faults};
pub use expression::{Expression, Part, RESERVED};
pub use fault::{Fault, Position, Severity, sort};
pub use folder::{FILE_BYTES_MAX, FILES_MAX, Folder};
pub use graph::{render_dot, render_mermaid, render_svg};
pub use import::{ImportFault, ImportRule, ImportTarget, Imported, RunField};
pub use merge::{Gone, Merged, Sides, find_gone, holds_gone, holds_value, merge_list, merge_place};
pub use name::{BadName, EdgeId, NAME_CHARACTERS_MAX, NodeName};
pub use nearest::find_nearest;
pub use patch::{Assigned, Patch, PlaceFault, apply};
pub use path::{PathStep, ResolvedPath};
pub use regatta_expr::is_deceptive;

pub use outcome::OutcomeKind;

pub use nesting::{OUTPUT_LEVELS_MAX, is_nested_deeper};
pub use place::{Place, SEGMENTS_MAX, Segment};
pub use role::{PROMPT_BYTES_MAX, PROMPT_FUEL, PromptFault, Role};
pub use schema::{Changed, SCHEMA_FAULTS_MAX, Schema, SchemaFault, StateSchema};
pub use sheet::{Occasion, Reading, Sheet};
pub use shown::{
    Content, FilePath, PathFault, Remembered, SHOWN_BYTES_MAX, Sources, StateFile, Template, View,
    is_safe_path,
};
pub use step::{
    BoardItem, Choice, Finding, Heard, Look, MapItem, Said, Seen, StepFault, Tried, assign, board_items,
    choose, evaluate_count, evaluate_text, find_result, findings, follow, hear, inputs, map_items, may_hear,
    prompt, say, step, step_on,
};
pub use trial::{Given, Trial};
pub use variables::{FactName, Local, Variables};
pub use workflow::{
    Assignment, Bind, Board, Edge, EndStatus, Level, Limit, Named, Node, NodeKind, ONLY_LEVEL, On, Route,
    Send, Signal, Target, Workflow,
};
