//! What holds for task files as a whole: nothing is lost, and an edit touches only its part.
//!
//! `corpus` replays odd but real files, `generated` makes up documents, `extremes` goes for size and depth. What an
//! edit may change is said once, in `edits`, for all of them.

mod archiving;
mod corpus;
mod edits;
mod extremes;
mod generated;
mod merging;
mod random;
