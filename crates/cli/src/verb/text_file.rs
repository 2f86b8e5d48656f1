//! A text that a verb is given as a file, or on standard input.
//!
//! Whatever is handed over, no more is read than a document may hold.

use crate::arguments::Place;
use regatta_engine::core::document::TEXT_BYTES_MAX;
use regatta_engine::core::{Code, FieldFault, Problem};
use regatta_engine::orders;
use std::convert::Infallible;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where a text comes from.
#[derive(Debug, Clone)]
pub(crate) enum TextFile {
    /// `-`.
    Standard,
    /// A file, from the folder that the verb works in.
    File(PathBuf),
}

impl FromStr for TextFile {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(if text == "-" { TextFile::Standard } else { TextFile::File(PathBuf::from(text)) })
    }
}

impl TextFile {
    /// Returns the file's name without its ending, if it is a file.
    pub(crate) fn stem(&self) -> Option<String> {
        match self {
            TextFile::Standard => None,
            TextFile::File(path) => path.file_stem().map(|stem| stem.to_string_lossy().into_owned()),
        }
    }

    /// Reads it whole; what is no text, or too long, is a bad field of the command.
    pub(crate) fn read(&self, place: &Place) -> Result<String, Problem> {
        self.read_at_most(place, TEXT_BYTES_MAX)
    }

    /// Reads it whole, if it is no larger.
    pub(crate) fn read_at_most(&self, place: &Place, bytes_max: usize) -> Result<String, Problem> {
        match self {
            TextFile::Standard => read_text(std::io::stdin().lock(), Path::new("standard input"), bytes_max),
            TextFile::File(path) => {
                let file = File::open(place.folder()?.join(path)).map_err(|error| unread(path, &error))?;
                read_text(file, path, bytes_max)
            }
        }
    }
}

fn read_text(source: impl Read, path: &Path, bytes_max: usize) -> Result<String, Problem> {
    let mut bytes = Vec::new();
    let limit = bytes_max as u64 + 1;
    source.take(limit).read_to_end(&mut bytes).map_err(|error| unread(path, &error))?;
    if bytes.len() > bytes_max {
        return Err(bad_text(format!("must have at most {bytes_max} bytes; {} has more", path.display())));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        bad_text(format!("must be UTF-8; {} is not from byte {at} on", path.display()))
    })
}

fn bad_text(problem: String) -> Problem {
    orders::invalid(vec![FieldFault { field: "text", problem }]).explain()
}

fn unread(path: &Path, error: &std::io::Error) -> Problem {
    Problem::new(
        Code::IoFailed,
        format!("{} was not read", path.display()),
        error.to_string(),
        "check that it is a file and that you may read it",
    )
}
