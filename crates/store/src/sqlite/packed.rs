//! A snapshot as a column: LZ4 behind its length.
//!
//! A snapshot repeats the state, which the log has already. So it need not be readable, but must be small:
//! otherwise a large state is most of what a run keeps on the disk besides its events.

/// No block of LZ4 unfolds to more than so many times its own length.
const RATIO_MAX: usize = 255;

/// Before the block stands the length of the text, in four bytes.
const HEAD: usize = 4;

/// Packs a text.
pub(super) fn pack(text: &str) -> Vec<u8> {
    lz4_flex::block::compress_prepend_size(text.as_bytes())
}

/// Unpacks what [`pack`] made; nothing, when the bytes are something else.
pub(super) fn unpack(packed: &[u8]) -> Option<String> {
    let (head, block) = packed.split_first_chunk::<HEAD>()?;
    let length = u32::from_le_bytes(*head) as usize;
    // The bytes may be anything: what they claim is believed only as far as they could unfold.
    if length > block.len().saturating_mul(RATIO_MAX) {
        return None;
    }
    let text = lz4_flex::block::decompress(block, length).ok()?;
    (text.len() == length).then_some(text).and_then(|text| String::from_utf8(text).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_text_comes_back(text in ".{0,400}", times in 1_usize..40) {
            let text = text.repeat(times);
            prop_assert_eq!(unpack(&pack(&text)), Some(text));
        }

        #[test]
        fn other_bytes_are_refused_or_read_but_never_believed(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let read = unpack(&bytes);
            prop_assert!(read.is_none_or(|text| text.len() <= bytes.len() * RATIO_MAX));
        }
    }

    #[test]
    fn a_length_that_the_bytes_cannot_hold_is_refused() {
        let mut packed = pack("a state");
        packed[..HEAD].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(unpack(&packed), None);
    }

    #[test]
    fn a_state_of_many_like_items_is_a_fraction_of_its_length() {
        let item = r#"{"id":"T0001","title":"Parse the header","status":"complete"},"#;
        let text = item.repeat(100);
        assert!(pack(&text).len() * 4 < text.len());
    }
}
