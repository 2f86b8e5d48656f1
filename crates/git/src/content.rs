//! What stands in a file at a commit.
//!
//! Only what is asked for is kept in memory, and git is stopped after it: a file may be larger than the machine.

use std::ops::ControlFlow;

use crate::entry::TreeEntry;
use crate::error::Error;
use crate::repository::Repository;

/// The beginning of a file's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// There is more than was asked for.
    pub is_truncated: bool,
}

impl Repository {
    /// Returns the content of a file or the text of a link, cut at a number of bytes; nothing for a submodule.
    pub async fn read_entry(&self, entry: &TreeEntry, bytes_max: usize) -> Result<Option<Content>, Error> {
        if entry.is_link() {
            return Ok(None);
        }
        let mut content = Content { bytes: Vec::new(), is_truncated: false };
        let streamed = self
            .git()
            .args(["cat-file", "blob", &entry.id])
            .stream(|chunk| {
                let room = bytes_max - content.bytes.len();
                content.bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
                content.is_truncated = chunk.len() > room;
                if content.is_truncated { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .await?;
        if !content.is_truncated && streamed.code != Some(0) {
            return Err(streamed.into_error());
        }
        Ok(Some(content))
    }
}
