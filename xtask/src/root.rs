//! Where the repository is.
//!
//! Cargo names this package's folder when it runs a binary or a test of it; the folder known at build time is
//! only for a binary that was started by hand.

use std::path::{Path, PathBuf};

/// Returns the root folder of the repository.
pub(crate) fn find_root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package.parent().map_or_else(|| package.clone(), Path::to_path_buf)
}
