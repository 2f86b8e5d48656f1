//! Epics and PRDs: the small documents that tasks belong to.
//!
//! A PRD is a requirements document with a slug; an epic is a numbered group of tasks, perhaps made for one PRD.
//! They are a family of their own in the log: nothing here leads to an effect, and none of them is ever deleted.
//! Start reading at [`Event`], then [`decide`].

mod add_epic;
mod add_prd;
mod catalogue;
mod change_epic;
mod change_prd;
mod decide;
mod epic;
mod event;
mod explain;
mod naming;
mod prd;

pub use add_epic::AddEpic;
pub use add_prd::AddPrd;
pub use catalogue::{Catalogue, EpicEntry, PrdEntry};
pub use change_epic::ChangeEpic;
pub use change_prd::ChangePrd;
pub use decide::{Command, Situation, decide};
pub use epic::Epic;
pub use event::Event;
pub use naming::{find_title, slug_from};
pub use prd::{Prd, TEXT_BYTES_MAX};

pub(crate) use epic::try_evolve as try_evolve_epic;
pub(crate) use explain::{explain_no_epic, explain_no_prd, explain_taken};
pub(crate) use prd::try_evolve as try_evolve_prd;
