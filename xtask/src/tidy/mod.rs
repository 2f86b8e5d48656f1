//! The rules of the codebase that neither the compiler nor clippy knows, one file each.
//!
//! A rule is a function from the texts of the repository to faults, so each has tests on small texts that show
//! it can fail. Start at `run`, which lists them. `rust` and `markdown` say of those two languages
//! what the rules ask.

mod arrows;
mod error_pages;
mod fault;
mod forbidden;
mod length;
mod links;
mod lock;
mod machine_paths;
mod markdown;
mod module_doc;
mod names;
mod purity;
mod run;
mod rust;
mod sleep;

pub(crate) use run::check;
