//! A diff as people read it: files, hunks and lines out of git's patch, with what changed within lines, colours and identity.
//!
//! Everything here is pure and bounded: a patch comes from a repository that an agent wrote in. What cannot be understood is
//! left out or shown as plain text; nothing here fails. Start reading at `patch`.

mod align;
mod highlight;
mod identity;
mod line;
mod name;
mod patch;
mod seen;
mod words;

pub use align::{Aligned, Row, align};
pub use highlight::{Class, Highlighted, Highlighter, Span};
pub use identity::{HunkId, line_mark};
pub use line::{LINE_CHARACTERS_MAX, render_code};
pub use patch::{Change, File, Hunk, Line, LineKind, Patch};
pub use seen::{MARKS_MAX, Mark, Seen, SeenHunk, judge};
pub use words::{Words, find_words};
