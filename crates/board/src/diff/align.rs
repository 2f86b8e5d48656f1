//! Which removed line became which added one: for the view side by side, and for what changed within lines.

use super::patch::{Hunk, LineKind};
use super::words::{find_words, sort_words, weigh_likeness};
use std::ops::Range;

/// Blocks with more lines are paired in order: comparing all with all would take too long.
const BLOCK_LINES_MAX: usize = 60;
/// Lines that are less alike are not versions of each other.
const LIKENESS_MIN: usize = 40;

/// A hunk with its lines paired.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Aligned {
    /// The rows of the view side by side.
    pub rows: Vec<Row>,
    /// For each line of the hunk, the bytes that differ from the line it is paired with.
    pub words: Vec<Vec<Range<usize>>>,
}

/// One row side by side, by the places of its lines in the hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The line before.
    pub left: Option<usize>,
    /// The line after.
    pub right: Option<usize>,
}

/// Pairs the lines of a hunk.
pub fn align(hunk: &Hunk) -> Aligned {
    let mut aligned = Aligned { rows: Vec::new(), words: vec![Vec::new(); hunk.lines.len()] };
    let mut at = 0;
    while at < hunk.lines.len() {
        if hunk.lines[at].kind == LineKind::Context {
            aligned.rows.push(Row { left: Some(at), right: Some(at) });
            at += 1;
            continue;
        }
        let end = at + hunk.lines[at..].iter().take_while(|line| line.kind != LineKind::Context).count();
        let of = |kind| (at..end).filter(move |place| hunk.lines[*place].kind == kind).collect::<Vec<_>>();
        align_block(hunk, &of(LineKind::Removed), &of(LineKind::Added), &mut aligned);
        at = end;
    }
    aligned
}

fn align_block(hunk: &Hunk, removed: &[usize], added: &[usize], aligned: &mut Aligned) {
    let (mut left, mut right) = (0, 0);
    let mut fill = |aligned: &mut Aligned, to_left: usize, to_right: usize| {
        while left < to_left || right < to_right {
            let row = Row {
                left: (left < to_left).then(|| removed[left]),
                right: (right < to_right).then(|| added[right]),
            };
            aligned.rows.push(row);
            (left, right) = ((left + 1).min(to_left), (right + 1).min(to_right));
        }
    };
    for (old, new) in pair(hunk, removed, added) {
        fill(aligned, old, new);
        fill(aligned, old + 1, new + 1);
        let (old, new) = (removed[old], added[new]);
        if let Some(words) = find_words(&hunk.lines[old].text, &hunk.lines[new].text) {
            (aligned.words[old], aligned.words[new]) = (words.old, words.new);
        }
    }
    fill(aligned, removed.len(), added.len());
}

/// Pairs lines without crossing, so that the similarity of all pairs together is greatest.
fn pair(hunk: &Hunk, removed: &[usize], added: &[usize]) -> Vec<(usize, usize)> {
    if removed.len() > BLOCK_LINES_MAX || added.len() > BLOCK_LINES_MAX {
        return (0..removed.len().min(added.len())).map(|place| (place, place)).collect();
    }
    let words = |lines: &[usize]| -> Vec<Vec<&str>> {
        lines.iter().map(|line| sort_words(&hunk.lines[*line].text)).collect()
    };
    let (old, new) = (words(removed), words(added));
    let width = new.len() + 1;
    let mut best = vec![0; (old.len() + 1) * width];
    let mut similarity = vec![0; old.len() * new.len()];
    for left in (0..old.len()).rev() {
        for right in (0..new.len()).rev() {
            let alike = weigh_likeness(&old[left], &new[right]);
            let alike = if alike < LIKENESS_MIN { 0 } else { alike };
            similarity[left * new.len() + right] = alike;
            let paired = if alike > 0 { alike + best[(left + 1) * width + right + 1] } else { 0 };
            best[left * width + right] =
                paired.max(best[(left + 1) * width + right]).max(best[left * width + right + 1]);
        }
    }
    let (mut left, mut right, mut pairs) = (0, 0, Vec::new());
    while left < old.len() && right < new.len() {
        let (here, alike) = (best[left * width + right], similarity[left * new.len() + right]);
        if alike > 0 && here == alike + best[(left + 1) * width + right + 1] {
            pairs.push((left, right));
            (left, right) = (left + 1, right + 1);
        } else if here == best[(left + 1) * width + right] {
            left += 1;
        } else {
            right += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::Patch;
    use expect_test::expect;

    fn hunk(lines: &str) -> Hunk {
        let (old, new) = (lines.matches("\n-").count(), lines.matches("\n+").count());
        let both = lines.matches("\n ").count();
        let text = format!("diff --git a/x b/x\n@@ -1,{} +1,{} @@{lines}\n", old + both, new + both);
        Patch::parse(&text).files.remove(0).hunks.remove(0)
    }

    fn show(hunk: &Hunk) -> String {
        let aligned = align(hunk);
        let side = |place: Option<usize>| {
            let Some(place) = place else { return "~".to_owned() };
            let (mut text, mut at) = (String::new(), 0);
            let line = &hunk.lines[place].text;
            for range in &aligned.words[place] {
                text += &format!("{}[{}]", &line[at..range.start], &line[range.clone()]);
                at = range.end;
            }
            text + &line[at..]
        };
        aligned.rows.iter().map(|row| format!("{} | {}\n", side(row.left), side(row.right))).collect()
    }

    #[test]
    fn versions_of_a_line_stand_side_by_side() {
        let hunk = hunk(
            "\n same\n-fn expires(headers, now: Time) {\n-    let date = header(headers).or(now);\n+fn expires(headers, at: Time) {\n\
             +    // A comment that is new.\n+    let date = header(headers).or(at);\n same",
        );
        expect![[r#"
            same | same
            fn expires(headers, [now]: Time) { | fn expires(headers, [at]: Time) {
            ~ |     // A comment that is new.
                let date = header(headers).or([now]); |     let date = header(headers).or([at]);
            same | same
        "#]]
        .assert_eq(&show(&hunk));
    }

    #[test]
    fn lines_that_only_come_or_go_have_no_partner() {
        expect![[r#"
            a = 1; | return Err(problem)
            ~ | new
            same | same
            gone | ~
        "#]]
        .assert_eq(&show(&hunk("\n-a = 1;\n+return Err(problem)\n+new\n same\n-gone")));
    }

    #[test]
    fn every_line_is_in_one_row_however_large_the_block() {
        for count in [0, 1, 59, 60, 61, 3_000] {
            let lines: String = (0..count).map(|n| format!("\n-old {n} x\n+new {n} x")).collect();
            let hunk = hunk(&format!("\n same{lines}"));
            let rows = align(&hunk).rows;
            let lefts: Vec<_> = rows.iter().filter_map(|row| row.left).collect();
            let rights: Vec<_> = rows.iter().filter_map(|row| row.right).collect();
            assert_eq!((lefts.len(), rights.len()), (count + 1, count + 1));
            assert!(lefts.is_sorted() && rights.is_sorted());
        }
    }
}
