//! Epics and PRDs: the small documents that tasks belong to.
//!
//! A PRD is a requirements document with a slug; an epic is a numbered group of tasks, perhaps made for one PRD.
//! They are a family of their own in the log: nothing here leads to an effect, and none of them is ever deleted.
//! Start reading at [`Event`].

mod catalogue;
mod epic;
mod event;
mod prd;

pub use catalogue::{Catalogue, EpicEntry, PrdEntry};
pub use epic::Epic;
pub use event::Event;
pub use prd::Prd;

pub(crate) use epic::try_evolve as try_evolve_epic;
pub(crate) use prd::try_evolve as try_evolve_prd;
