//! Puts things of a row as near as possible to where they want to be, without overlap and without changing their order.

/// Something in a row: how far it reaches to both sides of its place, and where it wants to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Wish {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) place: f64,
    /// How much its wish counts beside those of its neighbours.
    pub(super) weight: f64,
}

/// A run of things that touch, and so move as one.
struct Block {
    first: usize,
    place: f64,
    weight: f64,
}

/// Returns the places, at the least sum of weighted squares from the wishes, with `gap` between neighbours.
pub(super) fn spread(wishes: &[Wish], gap: f64) -> Vec<f64> {
    let mut offsets = Vec::with_capacity(wishes.len());
    let mut offset = 0.0;
    for (index, wish) in wishes.iter().enumerate() {
        if index > 0 {
            offset += wishes[index - 1].right + gap + wish.left;
        }
        offsets.push(offset);
    }
    let mut blocks: Vec<Block> = Vec::new();
    for (index, wish) in wishes.iter().enumerate() {
        blocks.push(Block { first: index, place: wish.place - offsets[index], weight: wish.weight });
        while let [.., before, last] = blocks.as_mut_slice() {
            if before.place <= last.place {
                break;
            }
            let weight = before.weight + last.weight;
            before.place = (before.place * before.weight + last.place * last.weight) / weight;
            before.weight = weight;
            blocks.pop();
        }
    }
    let ends = blocks.iter().skip(1).map(|block| block.first).chain([wishes.len()]);
    blocks
        .iter()
        .zip(ends)
        .flat_map(|(block, end)| offsets[block.first..end].iter().map(|offset| block.place + offset))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(wishes: &[(f64, f64)]) -> Vec<f64> {
        let wish =
            |(place, weight): &(f64, f64)| Wish { left: 5.0, right: 5.0, place: *place, weight: *weight };
        spread(&wishes.iter().map(wish).collect::<Vec<_>>(), 2.0)
    }

    #[test]
    fn wishes_are_met_where_there_is_room() {
        assert_eq!(places(&[(0.0, 1.0), (50.0, 1.0)]), [0.0, 50.0]);
        assert_eq!(places(&[]), Vec::<f64>::new());
    }

    #[test]
    fn neighbours_share_what_is_lacking_by_their_weights() {
        assert_eq!(places(&[(10.0, 1.0), (10.0, 1.0)]), [4.0, 16.0]);
        assert_eq!(places(&[(10.0, 1.0), (10.0, 3.0)]), [1.0, 13.0]);
        // The order stays, also against the wishes.
        assert_eq!(places(&[(20.0, 1.0), (0.0, 1.0), (100.0, 1.0)]), [4.0, 16.0, 100.0]);
    }
}
