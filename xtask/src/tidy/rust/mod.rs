//! As much of Rust as the rules need: what is code and what is not, what is test code, which paths are named.

mod mask;
mod names_in;
mod test_code;

pub(crate) use mask::{Masked, mask};
pub(crate) use names_in::{Named, names_in};
pub(crate) use test_code::{is_test_file, test_ranges};
