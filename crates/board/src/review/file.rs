//! One file of a review: its head, its hunks as tables of lines, and what is folded between them.
//!
//! It is written by hand and not by a template: a file may have thousands of lines, and each is a row.

use super::talk::{Placed, render_talk};
use crate::diff::{Aligned, File, Highlighted, Hunk, Line, LineKind, Seen, SeenHunk, align, render_code};
use crate::markup::{Markup, escape};
use crate::parts;
use std::fmt::Write;

/// Rows in one table; the browser skips tables that are out of view.
const CHUNK_ROWS: usize = 200;

/// A file to be rendered.
#[derive(Debug, Clone, Copy)]
pub struct FilePiece<'a> {
    /// Its place in the patch.
    pub number: usize,
    /// What changed in it.
    pub file: &'a File,
    /// The colours of its lines before.
    pub old: &'a Highlighted,
    /// The colours of its lines after.
    pub new: &'a Highlighted,
    /// How many lines it has after, if that is known.
    pub line_count: Option<u32>,
    /// What the reader has viewed of it.
    pub seen: &'a [SeenHunk],
    /// Comments of earlier attempts.
    pub talk: &'a [Placed],
    /// Whether the versions stand side by side.
    pub is_split: bool,
}

/// Renders a file whole.
pub fn render_file(piece: &FilePiece<'_>) -> Markup {
    let file = piece.file;
    let mut out = String::new();
    open(&mut out, piece, true);
    for note in file.notes() {
        let _ = write!(out, "<p class=\"fact\">{}</p>", escape(&note));
    }
    for placed in piece.talk.iter().filter(|placed| !is_in_a_hunk(file, placed)) {
        out.push_str("<div class=\"loose\">");
        render_talk(&mut out, placed, true);
        out.push_str("</div>");
    }
    if file.hunks.is_empty()
        && let Some(seen) = piece.seen.first()
    {
        let _ = write!(
            out,
            "<section class=\"hunk\" data-hunk=\"{}\" data-seen=\"{}\"><header>",
            seen.id,
            seen.seen.as_str()
        );
        out.push_str("<span class=\"end\"></span>");
        mark(&mut out, seen.seen);
        out.push_str("</header></section>");
    }
    let mut at = Gap { old: 1, new: 1 };
    for (place, hunk) in file.hunks.iter().enumerate() {
        fold(&mut out, at, Some(hunk_starts(hunk).1));
        render_hunk(&mut out, piece, hunk, piece.seen.get(place));
        at = after(hunk);
    }
    if let (Some(count), Some(last)) = (piece.line_count, file.hunks.last())
        && last.new_count > 0
    {
        fold(&mut out, at, Some(count + 1));
    }
    out.push_str("</article>");
    Markup::new(out)
}

/// Renders only the head of a file, whose lines are fetched when it comes into view.
pub fn render_head(piece: &FilePiece<'_>) -> Markup {
    let mut out = String::new();
    open(&mut out, piece, false);
    out.push_str("<p class=\"fact dim later\">Opens when it comes into view.</p></article>");
    Markup::new(out)
}

/// Renders lines that did not change.
pub fn render_lines((old, new): (u32, u32), lines: &[&str], colours: &Highlighted, is_split: bool) -> Markup {
    let mut out = String::new();
    begin_table(&mut out, is_split, lines.len());
    for (offset, text) in lines.iter().enumerate() {
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        let line = Line {
            kind: LineKind::Context,
            old: Some(old.saturating_add(offset)),
            new: Some(new.saturating_add(offset)),
            text: text.strip_suffix('\r').unwrap_or(text).to_owned(),
            has_return: false,
            is_unended: false,
        };
        let mut code = String::new();
        render_code(&mut code, &line.text, colours.line(line.new), &[]);
        let _ = write!(out, "<tr{}>", numbers(&line));
        if is_split {
            cells(&mut out, line.old, "", "", &code);
            cells(&mut out, line.new, "", "", &code);
        } else {
            unified_cells(&mut out, &line, &code);
        }
        out.push_str("</tr>");
    }
    out.push_str("</table></div>");
    Markup::new(out)
}

fn open(out: &mut String, piece: &FilePiece<'_>, is_whole: bool) {
    let file = piece.file;
    let (folder, name) =
        file.path.rfind('/').map_or(("", file.path.as_str()), |at| file.path.split_at(at + 1));
    let seen = piece.seen.iter().map(|hunk| hunk.seen).min().unwrap_or(Seen::New);
    let lines: usize = file.hunks.iter().map(|hunk| hunk.lines.len()).sum();
    let number = piece.number;
    let _ = write!(
        out,
        "<article class=\"file\" id=\"file-{number}\" data-file=\"{number}\" data-path=\"{0}\" data-old-path=\"{1}\" \
         data-seen=\"{2}\" data-lines=\"{lines}\"{3} aria-label=\"{0}\"><header><button type=\"button\" class=\"twist\" data-fold-file \
         aria-expanded=\"true\" aria-label=\"Fold {0}\">{4}</button><span class=\"path cut\" title=\"{0}\"><span \
         class=\"dir\">{5}</span><b>{6}</b></span><span class=\"end nw\">{7}</span><button type=\"button\" class=\"btn plain icon\" \
         data-comment-file aria-label=\"Comment on {0}\" title=\"Comment on the file\">{8}</button></header>",
        escape(&file.path),
        escape(&file.old_path),
        seen.as_str(),
        if is_whole { "" } else { " data-later" },
        parts::small("down"),
        shown(folder),
        shown(name),
        counts(file),
        parts::small("comment"),
    );
}

/// A name as it is shown: characters that act or hide are named.
pub(super) fn shown(text: &str) -> String {
    let mut out = String::new();
    render_code(&mut out, text, &[], &[]);
    out
}

pub(super) fn counts(file: &File) -> String {
    let (added, removed) = file.counts();
    let mut out = String::new();
    if added > 0 {
        let _ = write!(out, "<span class=\"ok\">+{added}</span> ");
    }
    if removed > 0 {
        let _ = write!(out, "<span class=\"bad\">−{removed}</span>");
    }
    out
}

fn render_hunk(out: &mut String, piece: &FilePiece<'_>, hunk: &Hunk, seen: Option<&SeenHunk>) {
    let state = seen.map_or(Seen::New, |seen| seen.seen);
    let label = if hunk.section.is_empty() { String::new() } else { shown(&hunk.section) };
    let lines = describe_lines(hunk);
    let folded = if state == Seen::Viewed { " is-folded" } else { "" };
    let _ = write!(
        out,
        "<section class=\"hunk{folded}\" data-hunk=\"{}\" data-seen=\"{}\" aria-label=\"{}\" tabindex=\"-1\"><header><button type=\"button\" \
         class=\"twist\" data-fold aria-expanded=\"{}\" aria-label=\"Fold {lines}\">{}</button><code class=\"cut\">{label}</code><span \
         class=\"dim nw\">{lines}</span><span class=\"end\"></span>",
        seen.map_or("", |seen| seen.id.as_str()),
        state.as_str(),
        escape(if hunk.section.is_empty() { &lines } else { &hunk.section }),
        state != Seen::Viewed,
        parts::small("down"),
    );
    let known = seen.map_or(&[][..], |seen| &seen.is_known);
    if known.iter().any(|known| *known) {
        out.push_str("<button type=\"button\" class=\"btn plain mini-btn\" data-only-fresh aria-pressed=\"false\">Only what changed</button>");
    }
    mark(out, state);
    out.push_str("</header>");
    let aligned = align(hunk);
    let rows: Vec<(Option<usize>, Option<usize>)> = match piece.is_split {
        true => aligned.rows.iter().map(|row| (row.left, row.right)).collect(),
        false => (0..hunk.lines.len()).map(|line| (Some(line), None)).collect(),
    };
    for chunk in rows.chunks(CHUNK_ROWS) {
        begin_table(out, piece.is_split, chunk.len());
        for (left, right) in chunk {
            if piece.is_split {
                split_row(out, piece, hunk, &aligned, (*left, *right), known);
            } else if let Some(place) = left {
                unified_row(
                    out,
                    piece,
                    &hunk.lines[*place],
                    &aligned.words[*place],
                    known.get(*place) == Some(&true),
                );
            }
        }
        out.push_str("</table></div>");
    }
    out.push_str("</section>");
}

pub(super) fn unified_row(
    out: &mut String,
    piece: &FilePiece<'_>,
    line: &Line,
    words: &[std::ops::Range<usize>],
    is_known: bool,
) {
    let class = match line.kind {
        LineKind::Context => "",
        LineKind::Added => " class=\"a\"",
        LineKind::Removed => " class=\"d\"",
    };
    let _ = write!(out, "<tr{class}{}{}>", numbers(line), if is_known { " data-known" } else { "" });
    unified_cells(out, line, &code(piece, line, words));
    out.push_str("</tr>");
    talk_after(out, piece, &[line], 4);
}

fn unified_cells(out: &mut String, line: &Line, code: &str) {
    let sign = match line.kind {
        LineKind::Context => "",
        LineKind::Added => "+",
        LineKind::Removed => "−",
    };
    let _ = write!(
        out,
        "<td class=\"n\" data-side=\"old\">{}</td><td class=\"n\" data-side=\"new\">{}</td><td class=\"s\">{sign}</td><td class=\"c\">{code}</td>",
        number(line.old),
        number(line.new)
    );
}

fn split_row(
    out: &mut String,
    piece: &FilePiece<'_>,
    hunk: &Hunk,
    aligned: &Aligned,
    (left, right): (Option<usize>, Option<usize>),
    known: &[bool],
) {
    let is_known = [left, right].into_iter().flatten().all(|place| known.get(place) == Some(&true));
    let (old, new) = (left.map(|place| &hunk.lines[place]), right.map(|place| &hunk.lines[place]));
    let _ = write!(out, "<tr");
    if let Some(number) = old.and_then(|line| line.old) {
        let _ = write!(out, " data-old=\"{number}\"");
    }
    if let Some(number) = new.and_then(|line| line.new) {
        let _ = write!(out, " data-new=\"{number}\"");
    }
    out.push_str(if is_known { " data-known>" } else { ">" });
    for (place, is_old) in [(left, true), (right, false)] {
        let Some(place) = place else {
            out.push_str("<td class=\"n x\"></td><td class=\"s x\"></td><td class=\"c x\"></td>");
            continue;
        };
        let line = &hunk.lines[place];
        let code = match (line.kind, is_old) {
            // The text is the same; its colours are those of the version it stands in.
            (LineKind::Context, true) => {
                let mut code = String::new();
                render_code(&mut code, &line.text, piece.old.line(line.old), &[]);
                code
            }
            _ => code_of(piece, line, &aligned.words[place]),
        };
        let (class, sign) = match line.kind {
            LineKind::Context => ("", ""),
            LineKind::Added => ("a", "+"),
            LineKind::Removed => ("d", "−"),
        };
        let number = if is_old { line.old } else { line.new };
        cells_of(out, number, if is_old { "old" } else { "new" }, class, sign, &code);
    }
    out.push_str("</tr>");
    let lines: Vec<&Line> = match (old, new) {
        (Some(old), Some(new)) if old.kind == LineKind::Context => vec![new],
        (old, new) => old.into_iter().chain(new).collect(),
    };
    talk_after(out, piece, &lines, 6);
}

fn cells(out: &mut String, number: Option<u32>, class: &str, sign: &str, code: &str) {
    cells_of(out, number, "new", class, sign, code);
}

fn cells_of(out: &mut String, line: Option<u32>, side: &str, class: &str, sign: &str, code: &str) {
    let _ = write!(
        out,
        "<td class=\"n {class}\" data-side=\"{side}\">{}</td><td class=\"s {class}\">{sign}</td><td class=\"c {class}\">{code}</td>",
        number(line)
    );
}

fn code(piece: &FilePiece<'_>, line: &Line, words: &[std::ops::Range<usize>]) -> String {
    code_of(piece, line, words)
}

fn code_of(piece: &FilePiece<'_>, line: &Line, words: &[std::ops::Range<usize>]) -> String {
    let colours = match line.kind {
        LineKind::Removed => piece.old.line(line.old),
        LineKind::Added | LineKind::Context => piece.new.line(line.new),
    };
    let mut out = String::new();
    render_code(&mut out, &line.text, colours, words);
    if line.has_return && line.kind != LineKind::Context {
        out.push_str("<span class=\"ctl\">CR</span>");
    }
    if line.is_unended {
        out.push_str("<span class=\"ctl\">no line end</span>");
    }
    out
}

/// Writes the comments of earlier attempts that end at one of the lines.
fn talk_after(out: &mut String, piece: &FilePiece<'_>, lines: &[&Line], columns: u32) {
    for placed in piece.talk {
        let is_here = |line: &&&Line| match placed.is_old() {
            true => placed.last_line().is_some() && line.old == placed.last_line(),
            false => placed.last_line().is_some() && line.new == placed.last_line(),
        };
        if lines.iter().any(|line| is_here(&line)) {
            let _ = write!(out, "<tr class=\"note\"><td colspan=\"{columns}\">");
            render_talk(out, placed, false);
            out.push_str("</td></tr>");
        }
    }
}

fn is_in_a_hunk(file: &File, placed: &Placed) -> bool {
    let Some(last) = placed.last_line() else { return false };
    file.hunks.iter().any(|hunk| {
        let (start, count) = match placed.is_old() {
            true => (hunk.old_start, hunk.old_count),
            false => (hunk.new_start, hunk.new_count),
        };
        (start..start.saturating_add(count)).contains(&last)
    })
}

pub(super) fn begin_table(out: &mut String, is_split: bool, count: usize) {
    // Where a table is long, the browser need not lay out what is out of view.
    out.push_str(if count >= CHUNK_ROWS { "<div class=\"chunk big\">" } else { "<div class=\"chunk\">" });
    out.push_str(match is_split {
        true => {
            "<table class=\"diff two\"><colgroup><col class=\"n\"><col class=\"s\"><col><col class=\"n\"><col \
             class=\"s\"><col></colgroup>"
        }
        false => {
            "<table class=\"diff\"><colgroup><col class=\"n\"><col class=\"n\"><col \
             class=\"s\"><col></colgroup>"
        }
    });
}

fn mark(out: &mut String, seen: Seen) {
    let (class, icon, words) = match seen {
        Seen::New => ("new", String::new(), "New"),
        Seen::Changed => ("half", String::new(), "Changed since<span class=\"long\"> you viewed it</span>"),
        Seen::Viewed => ("yes", parts::icon("check").into_string(), "Viewed"),
    };
    let _ = write!(
        out,
        "<button type=\"button\" class=\"mark {class}\" data-mark aria-pressed=\"{}\" title=\"Mark as viewed (V)\"><span class=\"seen \
         {class}\">{icon}</span><span>{words}</span></button>",
        seen == Seen::Viewed
    );
}

#[derive(Debug, Clone, Copy)]
struct Gap {
    old: u32,
    new: u32,
}

/// Git counts a hunk without lines on one side from the line before it.
fn hunk_starts(hunk: &Hunk) -> (u32, u32) {
    let start = |start: u32, count: u32| if count == 0 { start.saturating_add(1) } else { start };
    (start(hunk.old_start, hunk.old_count), start(hunk.new_start, hunk.new_count))
}

fn after(hunk: &Hunk) -> Gap {
    let (old, new) = hunk_starts(hunk);
    Gap { old: old.saturating_add(hunk.old_count), new: new.saturating_add(hunk.new_count) }
}

fn fold(out: &mut String, from: Gap, to: Option<u32>) {
    let Some(count) = to.and_then(|to| to.checked_sub(from.new)).filter(|count| *count > 0) else { return };
    let _ = write!(
        out,
        "<div class=\"fold\" data-old=\"{}\" data-new=\"{}\" data-count=\"{count}\"><button type=\"button\" data-open=\"all\">{}{}</button>",
        from.old,
        from.new,
        parts::small("fold"),
        crate::words::count(u64::from(count), "unchanged line")
    );
    if count > 20 {
        out.push_str("<button type=\"button\" data-open=\"down\">First 20</button><button type=\"button\" data-open=\"up\">Last 20</button>");
    }
    out.push_str("</div>");
}

fn describe_lines(hunk: &Hunk) -> String {
    let (start, count, side) = match hunk.new_count {
        0 => (hunk.old_start, hunk.old_count, " before"),
        count => (hunk.new_start, count, ""),
    };
    match count {
        0 | 1 => format!("line {start}{side}"),
        _ => format!("lines {start}–{}{side}", start.saturating_add(count - 1)),
    }
}

fn numbers(line: &Line) -> String {
    let mut out = String::new();
    if let Some(number) = line.old {
        let _ = write!(out, " data-old=\"{number}\"");
    }
    if let Some(number) = line.new {
        let _ = write!(out, " data-new=\"{number}\"");
    }
    out
}

fn number(number: Option<u32>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

/// Quoted lines as they are shown.
pub(super) fn shown_lines(text: &str) -> String {
    text.lines().map(|line| shown(line) + "\n").collect()
}
