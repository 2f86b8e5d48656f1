//! The picture of `regatta demo` in the README, made from what the program really prints.
//!
//! `take` runs the demo and writes the file, `ansi` reads its colours, `svg` draws the window. Commit ids and times
//! differ from run to run, so the picture is not compared byte for byte; a test looks at its words instead.

mod ansi;
mod svg;
mod take;

pub(crate) use take::write;
