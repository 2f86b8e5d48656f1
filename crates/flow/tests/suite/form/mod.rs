//! Faults of form: text in, text out, one file per part of a workflow.

mod expressions;
mod files;
mod loading;
mod roles;
mod schemas;
mod tables;
mod whole;
