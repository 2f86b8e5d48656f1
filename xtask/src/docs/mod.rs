//! The generated pages under `docs/reference`.
//!
//! `pages` renders them from the code, and touches nothing; `files` writes them, or says which differ.

mod files;
mod pages;

pub(crate) use files::{check, write};
