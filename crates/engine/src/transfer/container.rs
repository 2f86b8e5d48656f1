//! The container of an export: an uncompressed tar that holds plain files and nothing else.
//!
//! It is a tar so that `tar tf` lists it and `tar xf` extracts it in an emergency. It is written and read
//! here rather than by a library, because the reader has to refuse whatever the writer does not write: links,
//! folders, devices, extended headers, names that lead elsewhere. Nothing is compressed, so a small file
//! cannot become a large one.

use crate::digest::hex;
use sha2::{Digest, Sha256};
use std::io::{self, Read, Write};

const BLOCK: usize = 512;
/// The largest number in eleven octal digits.
pub(crate) const FILE_BYTES_MAX: u64 = (1 << 33) - 1;
const NAME_BYTES_MAX: usize = 100;
const CHUNK_BYTES: usize = 64 * 1024;

/// Why a container cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Wrong(String),
}

/// Writes files one after the other.
pub(crate) struct Writer<W: Write> {
    target: W,
}

impl<W: Write> Writer<W> {
    pub(crate) fn new(target: W) -> Self {
        Writer { target }
    }

    /// Adds a file of exactly so many bytes, and returns its digest.
    pub(crate) fn add(&mut self, name: &str, bytes: u64, source: &mut impl Read) -> io::Result<String> {
        self.target.write_all(&header(name, bytes)?)?;
        let mut hashing = Hashing::new(&mut self.target);
        let copied = io::copy(&mut source.take(bytes), &mut hashing)?;
        if copied != bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let digest = hashing.finish();
        self.target.write_all(&vec![0; padding(bytes)])?;
        Ok(digest)
    }

    /// Ends the container.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.target.write_all(&[0; 2 * BLOCK])?;
        self.target.flush()?;
        Ok(self.target)
    }
}

/// Reads files one after the other.
pub(crate) struct Reader<R: Read> {
    source: R,
}

impl<R: Read> Reader<R> {
    pub(crate) fn new(source: R) -> Self {
        Reader { source }
    }

    /// Returns the name and the size of the next file; nothing at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(String, u64)>, Fault> {
        let mut block = [0; BLOCK];
        self.fill(&mut block)?;
        if block.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let wrong = |what: &str| Fault::Wrong(format!("it is not an export of Regatta: {what}"));
        let end = block[..NAME_BYTES_MAX].iter().position(|byte| *byte == 0).unwrap_or(NAME_BYTES_MAX);
        let name = std::str::from_utf8(&block[..end]).map_err(|_| wrong("a name in it is not text"))?;
        let bytes = parse_octal(&block[124..135]).ok_or_else(|| wrong("a size in it cannot be read"))?;
        // The rest of a header is constant, so a header that does not compare equal is not ours: a link, a
        // folder, a device.
        if header(name, bytes).ok() != Some(block) {
            return Err(wrong(&format!("`{}` in it is not a plain file", name.escape_debug())));
        }
        Ok(Some((name.to_owned(), bytes)))
    }

    /// Writes the content of the file whose header was just read, and returns its digest.
    pub(crate) fn copy(&mut self, bytes: u64, target: &mut impl Write) -> Result<String, Fault> {
        let mut hashing = Hashing::new(target);
        let mut left = bytes;
        let mut chunk = vec![0; CHUNK_BYTES];
        while left > 0 {
            let size = usize::try_from(left).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
            self.fill(&mut chunk[..size])?;
            hashing.write_all(&chunk[..size])?;
            left -= size as u64;
        }
        let digest = hashing.finish();
        let mut rest = vec![0; padding(bytes)];
        self.fill(&mut rest)?;
        Ok(digest)
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Fault> {
        self.source.read_exact(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Fault::Wrong("it is cut off".to_owned()),
            _ => Fault::Io(error),
        })
    }
}

struct Hashing<'a, W: Write> {
    target: &'a mut W,
    digest: Sha256,
}

impl<'a, W: Write> Hashing<'a, W> {
    fn new(target: &'a mut W) -> Self {
        Hashing { target, digest: Sha256::new() }
    }

    fn finish(self) -> String {
        hex(&self.digest.finalize())
    }
}

impl<W: Write> Write for Hashing<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.target.write(bytes)?;
        self.digest.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.target.flush()
    }
}

fn padding(bytes: u64) -> usize {
    let over = usize::try_from(bytes % BLOCK as u64).unwrap_or_default();
    if over == 0 { 0 } else { BLOCK - over }
}

fn header(name: &str, bytes: u64) -> io::Result<[u8; BLOCK]> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX || bytes > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("`{name}` is too large for an export")));
    }
    let mut block = [0; BLOCK];
    let mut put = |at: usize, text: &[u8]| block[at..at + text.len()].copy_from_slice(text);
    put(0, name.as_bytes());
    put(100, b"0000600\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{bytes:011o} ").as_bytes());
    put(136, b"00000000000 ");
    put(148, b"        ");
    put(156, b"0");
    put(257, b"ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Ok(block)
}

fn parse_octal(digits: &[u8]) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::sha256;

    fn sample() -> Vec<u8> {
        let mut writer = Writer::new(Vec::new());
        writer.add("one", 3, &mut &b"abc"[..]).unwrap();
        writer.add("folder/two", 512, &mut &[7; 512][..]).unwrap();
        writer.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> Result<Vec<(String, u64, String)>, String> {
        let mut reader = Reader::new(bytes);
        let mut found = Vec::new();
        while let Some((name, size)) = reader.next().map_err(|fault| fault.to_string())? {
            let digest = reader.copy(size, &mut io::sink()).map_err(|fault| fault.to_string())?;
            found.push((name, size, digest));
        }
        Ok(found)
    }

    #[test]
    fn what_is_written_is_read_back() {
        let found = read(&sample()).unwrap();
        assert_eq!(found[0], ("one".to_owned(), 3, sha256(b"abc")));
        assert_eq!((found[1].0.as_str(), found[1].1), ("folder/two", 512));
    }

    #[test]
    fn whatever_is_cut_off_or_is_no_plain_file_is_refused() {
        let whole = sample();
        for length in [0, 100, 512, 513, 1024, 1600, whole.len() - 1024] {
            assert_eq!(read(&whole[..length]).unwrap_err(), "it is cut off", "{length}");
        }
        for (at, byte) in [(156, b'2'), (156, b'5'), (156, b'x'), (100, b'7'), (157, b'/'), (124, b'9')] {
            let mut changed = whole.clone();
            changed[at] = byte;
            assert!(read(&changed).unwrap_err().contains("not an export"), "{at}");
        }
        assert!(read(b"not a container at all, and shorter than a block").is_err());
    }
}
