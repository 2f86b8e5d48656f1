//! Two edits of one task file brought together, part by part.
//!
//! A part is a criterion, a session, a metadata key, a chain input, a sub-section, or what stands between them.
//! Changes to different parts are both kept; sessions that both sides appended are both kept, with the numbers
//! they have. Where both sides changed the same part differently, ours stays in place and theirs is kept, byte
//! for byte, in a fence under `## Conflicts` at the end of the file: there it disturbs no other part, shows in
//! every viewer, and nothing in it can be mistaken for structure. Blank lines between parts are not merged.

use std::collections::HashMap;

use crate::align::align;
use crate::contain;
use crate::edit::count_breaks;
use crate::line;
use crate::merge_metadata;
use crate::parse::SubsectionKind;
use crate::section::Section;
use crate::task_file::TaskFile;
use crate::tile::{self, Kind, Tile};

/// The title of the section that keeps the other side's versions.
pub const CONFLICTS_TITLE: &str = "Conflicts";

/// Two edits, merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merge {
    /// The merged text.
    pub text: String,
    /// The parts that both sides changed differently.
    pub conflicts: Vec<Conflict>,
}

/// A part that both sides changed differently. A side that has taken the part out is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The section, if it is one that the format knows.
    pub section: Option<Section>,
    /// What the part is, in words.
    pub part: String,
    /// What it was.
    pub base: String,
    /// What stays in place.
    pub ours: String,
    /// What is kept under `## Conflicts`.
    pub theirs: String,
}

/// Merges two edits of a text.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Merge {
    if theirs == base || ours == theirs {
        return Merge { text: ours.to_owned(), conflicts: Vec::new() };
    }
    if ours == base {
        return Merge { text: theirs.to_owned(), conflicts: Vec::new() };
    }
    let files = [base, ours, theirs].map(TaskFile::parse);
    let [base_tiles, our_tiles, their_tiles] = [0, 1, 2].map(|side: usize| tile::cut(&files[side]));
    let mut merger = Merger::new(base_tiles, our_tiles, their_tiles, line::ending_of(ours));
    merger.settle_known();
    merger.insert_added();
    let text = merger.render();
    let text = append_conflicts(text, &merger.conflicts, merger.ending);
    Merge { text, conflicts: merger.conflicts }
}

/// One part of the result.
#[derive(Debug, Clone)]
struct Slot<'a> {
    body: std::borrow::Cow<'a, str>,
    space: &'a str,
    section: String,
    is_heading: bool,
    /// Whether only our side has it.
    is_ours_alone: bool,
    /// Whether it comes from their side.
    is_theirs: bool,
}

struct Merger<'a> {
    base: Vec<Tile<'a>>,
    ours: Vec<Tile<'a>>,
    theirs: Vec<Tile<'a>>,
    /// For each part of the base, where each side has it.
    ours_of: Vec<Option<usize>>,
    theirs_of: Vec<Option<usize>>,
    /// For each part of theirs, the part of ours that it is.
    twins: Vec<Option<usize>>,
    /// Parts of theirs that are in neither the base nor ours.
    added: Vec<usize>,
    /// The result: our parts in order, each with the parts of theirs that follow it. The first row precedes all.
    rows: Vec<Vec<Slot<'a>>>,
    conflicts: Vec<Conflict>,
    ending: &'static str,
}

impl<'a> Merger<'a> {
    fn new(base: Vec<Tile<'a>>, ours: Vec<Tile<'a>>, theirs: Vec<Tile<'a>>, ending: &'static str) -> Self {
        let (ours_to_base, theirs_to_base) = (align_tiles(&base, &ours), align_tiles(&base, &theirs));
        let ours_of = invert(&ours_to_base, base.len());
        let theirs_of = invert(&theirs_to_base, base.len());
        let mut twins: Vec<Option<usize>> =
            theirs_to_base.iter().map(|place| place.and_then(|place| ours_of[place])).collect();
        let added = pair_added(&ours, &theirs, &ours_to_base, &theirs_to_base, &mut twins);
        let slot = |(tile, place): (&Tile<'a>, &Option<usize>)| vec![Slot::of(tile, place.is_none(), false)];
        let rows = std::iter::once(Vec::new()).chain(ours.iter().zip(&ours_to_base).map(slot)).collect();
        Merger { base, ours, theirs, ours_of, theirs_of, twins, added, rows, conflicts: Vec::new(), ending }
    }

    /// Decides each part that the base has, or that both sides added.
    fn settle_known(&mut self) {
        for index in 0..self.base.len() {
            let body = self.base[index].body;
            match (self.ours_of[index], self.theirs_of[index]) {
                (Some(our), Some(their)) => self.settle(body, our, their),
                (Some(our), None) if self.ours[our].body == body => self.rows[our + 1].clear(),
                (Some(our), None) => {
                    self.note_conflict(&self.ours[our].clone(), body, self.ours[our].body, "")
                }
                (None, Some(their)) if self.theirs[their].body != body => {
                    self.note_conflict(&self.theirs[their].clone(), body, "", self.theirs[their].body);
                }
                (None, _) => {}
            }
        }
        for (their, is_known) in self.in_base().into_iter().enumerate() {
            if let (false, Some(our)) = (is_known, self.twins[their])
                && self.ours[our].body != self.theirs[their].body
            {
                self.settle("", our, their);
            }
        }
    }

    fn in_base(&self) -> Vec<bool> {
        let mut known = vec![false; self.theirs.len()];
        for their in self.theirs_of.iter().flatten() {
            known[*their] = true;
        }
        known
    }

    fn settle(&mut self, base: &str, our: usize, their: usize) {
        let (our_tile, their_tile) = (self.ours[our].clone(), self.theirs[their].clone());
        if their_tile.body == base || their_tile.body == our_tile.body {
            return;
        }
        if our_tile.body == base {
            let slot = &mut self.rows[our + 1][0];
            *slot = Slot::of(&their_tile, false, true);
            slot.space = if our_tile.space.is_empty() { their_tile.space } else { our_tile.space };
        } else if our_tile.key.kind == Kind::Metadata {
            self.settle_metadata(base, our, &our_tile, &their_tile);
        } else {
            self.note_conflict(&our_tile, base, our_tile.body, their_tile.body);
        }
    }

    fn settle_metadata(&mut self, base: &str, our: usize, our_tile: &Tile<'a>, their_tile: &Tile<'a>) {
        let Some((text, conflicts)) = merge_metadata::merge(base, our_tile.body, their_tile.body) else {
            return self.note_conflict(our_tile, base, our_tile.body, their_tile.body);
        };
        self.rows[our + 1][0].body = text.into();
        self.conflicts.extend(conflicts.into_iter().map(|found| Conflict {
            section: Some(Section::Metadata),
            part: format!("the key `{}`", found.key),
            base: found.base,
            ours: found.ours,
            theirs: found.theirs,
        }));
    }

    fn note_conflict(&mut self, tile: &Tile<'a>, base: &str, ours: &str, theirs: &str) {
        self.conflicts.push(Conflict {
            section: tile.section,
            part: describe(tile),
            base: base.to_owned(),
            ours: ours.to_owned(),
            theirs: theirs.to_owned(),
        });
    }

    /// Puts each part that only theirs has after the part that it follows there, and after what we put there.
    fn insert_added(&mut self) {
        let mut row = 0;
        let mut added = self.added.iter().copied().peekable();
        for their in 0..self.theirs.len() {
            if added.next_if_eq(&their).is_none() {
                row = self.twins[their].map_or(row, |our| our + 1);
                continue;
            }
            let slot = Slot::of(&self.theirs[their], false, true);
            while self
                .rows
                .get(row + 1)
                .and_then(|next| next.first())
                .is_some_and(|next| next.is_ours_alone && next.section == slot.section)
            {
                row += 1;
            }
            self.rows[row].push(slot);
        }
    }

    fn render(&self) -> String {
        let mut out = String::new();
        let mut was_theirs = false;
        for slot in self.rows.iter().flatten() {
            let wanted = match (out.is_empty(), slot.is_heading && (slot.is_theirs || was_theirs)) {
                (true, _) => 0,
                (false, true) => 2,
                (false, false) => 1,
            };
            let present = count_breaks(&out[out.trim_end_matches([' ', '\t', '\r', '\n']).len()..]);
            let is_seam = slot.is_theirs || was_theirs || !out.ends_with(['\n', '\r']);
            if is_seam {
                out.push_str(&self.ending.repeat(usize::saturating_sub(wanted, present)));
            }
            out.push_str(&slot.body);
            out.push_str(slot.space);
            was_theirs = slot.is_theirs;
        }
        out
    }
}

impl<'a> Slot<'a> {
    fn of(tile: &Tile<'a>, is_ours_alone: bool, is_theirs: bool) -> Self {
        Slot {
            body: tile.body.into(),
            space: tile.space,
            section: tile.key.section.clone(),
            is_heading: matches!(tile.key.kind, Kind::Head | Kind::Subsection(_)),
            is_ours_alone,
            is_theirs,
        }
    }
}

fn align_tiles(base: &[Tile<'_>], side: &[Tile<'_>]) -> Vec<Option<usize>> {
    let keys = |tiles: &[Tile<'_>]| tiles.iter().map(|tile| tile.key.clone()).collect::<Vec<_>>();
    align(&keys(base), &keys(side), |old, new| {
        let (old, new) = (&base[old].key, &side[new].key);
        old.kind == Kind::Criterion && new.kind == Kind::Criterion && old.section == new.section
    })
}

fn invert(places: &[Option<usize>], count: usize) -> Vec<Option<usize>> {
    let mut inverted = vec![None; count];
    for (index, place) in places.iter().enumerate() {
        if let Some(place) = place {
            inverted[*place] = Some(index);
        }
    }
    inverted
}

/// Finds parts that both sides added; returns those that only theirs has.
///
/// Two sessions with the same number are two sessions, unless they say the same.
fn pair_added(
    ours: &[Tile<'_>],
    theirs: &[Tile<'_>],
    ours_to_base: &[Option<usize>],
    theirs_to_base: &[Option<usize>],
    twins: &mut [Option<usize>],
) -> Vec<usize> {
    let mut places: HashMap<_, Vec<usize>> = HashMap::new();
    for (index, tile) in ours.iter().enumerate().rev().filter(|(index, _)| ours_to_base[*index].is_none()) {
        places.entry(&tile.key).or_default().push(index);
    }
    let mut added = Vec::new();
    for (index, tile) in theirs.iter().enumerate().filter(|(index, _)| theirs_to_base[*index].is_none()) {
        let is_session = tile.key.kind == Kind::Subsection(SubsectionKind::Session);
        let candidates = places.get_mut(&tile.key);
        let twin = candidates.and_then(|candidates| {
            let last = *candidates.last()?;
            (!is_session || ours[last].body == tile.body).then(|| candidates.pop())?
        });
        match twin {
            Some(twin) => twins[index] = Some(twin),
            None => added.push(index),
        }
    }
    added
}

fn describe(tile: &Tile<'_>) -> String {
    let name = &tile.key.name;
    match tile.key.kind {
        Kind::Preamble => "the beginning of the file".to_owned(),
        Kind::Head => format!("the beginning of the section `{}`", tile.key.section),
        Kind::Metadata => "the metadata".to_owned(),
        Kind::Tail => format!("the text at the end of the section `{}`", tile.key.section),
        Kind::Criterion => format!("the criterion `{}`", line::on_one_line(name)),
        Kind::Subsection(SubsectionKind::Session) => format!("session {name}"),
        Kind::Subsection(SubsectionKind::ChainInput) => format!("the chain input from task {name}"),
        Kind::Subsection(SubsectionKind::Archived) => "the archived summary".to_owned(),
        Kind::Subsection(_) => format!("the sub-section `{}`", line::on_one_line(name)),
    }
}

/// Adds their versions under `## Conflicts`, at the end of the file.
fn append_conflicts(mut text: String, conflicts: &[Conflict], ending: &str) -> String {
    let kept: Vec<&Conflict> = conflicts.iter().filter(|conflict| !conflict.theirs.is_empty()).collect();
    if kept.is_empty() {
        return text;
    }
    let file = TaskFile::parse(text);
    let last = file.sections().last().map(|span| span.title.as_str());
    let has_section = last.is_some_and(|title| title.eq_ignore_ascii_case(CONFLICTS_TITLE));
    text = file.into_text();
    let present = count_breaks(&text[text.trim_end_matches([' ', '\t', '\r', '\n']).len()..]);
    text.push_str(&ending.repeat(usize::saturating_sub(2, present)));
    if !has_section {
        text.push_str(&format!("## {CONFLICTS_TITLE}{ending}{ending}"));
    }
    let blocks = kept.iter().map(|conflict| render_conflict(conflict, ending));
    text.push_str(&blocks.collect::<Vec<_>>().join(ending));
    text
}

fn render_conflict(conflict: &Conflict, ending: &str) -> String {
    let mark = contain::fence_mark(&conflict.theirs);
    format!(
        "### Their version of {}{ending}{mark}text{ending}{}{ending}{mark}{ending}",
        conflict.part, conflict.theirs
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "# Task #1: A\n\n## 0. Metadata\n```json\n{ \"a\": 1, \"b\": 2 }\n```\n\n## 1. Context\n\n\
        ### Requirements\nr\n\n### Acceptance Criteria\n- [ ] one\n- [ ] two\n\n\
        ## 3. Progress Log\n\n(No sessions yet)\n\n## 4. Chain Output\n\n(To be completed)\n";

    fn edit(pairs: &[(&str, &str)]) -> String {
        pairs.iter().fold(BASE.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        })
    }

    fn clean(ours: &str, theirs: &str) -> String {
        let merged = merge(BASE, ours, theirs);
        assert_eq!(merged.conflicts, [], "{}", merged.text);
        merged.text
    }

    #[test]
    fn changes_to_different_parts_are_both_kept() {
        let ours =
            edit(&[("[ ] one", "[x] one"), ("\"a\": 1", "\"a\": 7"), ("# Task #1: A", "# Task #1: Ours")]);
        let theirs = edit(&[("[ ] two", "[x] two"), ("\"b\": 2", "\"b\": 8"), ("\nr\n", "\nmore\n")]);
        let both = edit(&[
            ("[ ] one", "[x] one"),
            ("\"a\": 1", "\"a\": 7"),
            ("# Task #1: A", "# Task #1: Ours"),
            ("[ ] two", "[x] two"),
            ("\"b\": 2", "\"b\": 8"),
            ("\nr\n", "\nmore\n"),
        ]);
        assert_eq!(clean(&ours, &theirs), both);
        assert_eq!(clean(&theirs, &ours), both);
    }

    #[test]
    fn sessions_appended_on_both_sides_are_both_kept() {
        let ours = edit(&[("(No sessions yet)", "### Session 1 - a\n**Did:** x")]);
        let theirs = edit(&[("(No sessions yet)", "### Session 1 - b\n**Did:** y\n\n### Session 2 - c")]);
        assert_eq!(
            clean(&ours, &theirs),
            edit(&[(
                "(No sessions yet)",
                "### Session 1 - a\n**Did:** x\n\n### Session 1 - b\n**Did:** y\n\n### Session 2 - c"
            )])
        );
    }

    #[test]
    fn criteria_added_and_removed_on_different_sides() {
        let ours = edit(&[("- [ ] two\n", "- [ ] two\n- [ ] ours\n")]);
        let theirs = edit(&[("- [ ] one\n- [ ] two\n", "- [ ] two\n- [ ] theirs\n")]);
        assert_eq!(
            clean(&ours, &theirs),
            edit(&[("- [ ] one\n- [ ] two\n", "- [ ] two\n- [ ] ours\n- [ ] theirs\n")])
        );
    }

    #[test]
    fn the_same_part_changed_twice_keeps_theirs_under_conflicts() {
        let ours = edit(&[("\nr\n", "\nours\n")]);
        let theirs = edit(&[("\nr\n", "\n~~~\n## 3. Progress Log\n~~~\n"), ("[ ] one", "[x] one")]);
        let merged = merge(BASE, &ours, &theirs);
        let expected = edit(&[("\nr\n", "\nours\n"), ("[ ] one", "[x] one")]);
        assert_eq!(
            merged.text,
            format!(
                "{expected}\n## Conflicts\n\n### Their version of the sub-section `Requirements`\n\
                 ~~~~text\n### Requirements\n~~~\n## 3. Progress Log\n~~~\n~~~~\n"
            )
        );
        let [conflict] = merged.conflicts.as_slice() else { panic!("{:?}", merged.conflicts) };
        assert_eq!(
            (conflict.section, conflict.ours.as_str()),
            (Some(Section::Context), "### Requirements\nours")
        );
        assert_eq!(TaskFile::parse(merged.text).requirements(), Some("ours"));
    }

    #[test]
    fn a_second_conflict_joins_the_first() {
        let ours = edit(&[("\nr\n", "\nours\n")]);
        let first = merge(BASE, &ours, &edit(&[("\nr\n", "\nfirst\n")])).text;
        let second = merge(&ours, &first.replace("ours", "mine"), &ours.replace("ours", "second")).text;
        assert_eq!(second.matches("## Conflicts").count(), 1);
        assert!(second.contains("first") && second.contains("second") && second.contains("mine"));
    }

    #[test]
    fn a_part_changed_here_and_removed_there_is_a_conflict() {
        let changed = edit(&[("- [ ] two", "- [x] two")]);
        let removed = edit(&[("- [ ] two\n", "")]);
        let merged = merge(BASE, &changed, &removed);
        assert_eq!((merged.text.as_str(), merged.conflicts.len()), (changed.as_str(), 1));
        let merged = merge(BASE, &removed, &changed);
        assert!(merged.text.contains("- [x] two") && merged.conflicts.len() == 1, "{}", merged.text);
    }
}
