//! The entry of `cargo xtask`; everything else is in the library, where tests reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    xtask::run(std::env::args().skip(1))
}
