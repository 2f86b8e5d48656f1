//! `regatta state validate`.

use crate::arguments::Place;
use crate::columns::Fields;
use crate::exit::Exit;
use crate::screen::{BOLD, CYAN, DIM, GREEN, RED, YELLOW, clean};
use clap::Args;
use regatta_engine::core::Problem;
use regatta_engine::{FileKind, Understood, Validated, validate, validate_all};
use std::fmt::Write;
use std::path::PathBuf;

/// Check state files against their formats: where they are wrong, what was expected, and the likely fix
///
/// Checks task files and the files of runs: plans, requirements, test results, logs of changes, the state of a cycle or a
/// team, messages. Exits with 1 if any file has errors. In a task file, unknown parts are not errors: they are kept verbatim.
#[derive(Args)]
pub(crate) struct Validate {
    /// Files to check [default: all state files of the project]
    files: Vec<PathBuf>,
    /// What the files are, such as `task` or `cycle.plan` [default: found by name and content]
    #[arg(long = "as", value_name = "KIND")]
    kind: Option<FileKind>,
}

impl Validate {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = match self.files.is_empty() {
            true => Some(place.open().await?),
            // A file needs no project; one adds the workflows of its own.
            false => place.open().await.ok(),
        };
        let mut judged = Vec::new();
        match &project {
            Some(project) if self.files.is_empty() => judged = validate_all(project)?,
            project => {
                for file in &self.files {
                    let path = place.folder()?.join(file);
                    let found = validate(project.as_ref(), &path, self.kind.as_ref())?;
                    judged.push(Validated { file: file.display().to_string(), ..found });
                }
            }
        }
        let is_valid = judged.iter().all(|file| file.is_valid);
        match (&judged[..], self.files.len()) {
            ([Validated { task: Some(read), .. }], 1) => place.screen.data(read, |read| render_task(read)),
            ([one], 1) => place.screen.data(one, render),
            _ => place.screen.data(&judged, |judged| render_all(judged)),
        }
        Ok(if is_valid { Exit::Done } else { Exit::Failed })
    }
}

fn render_all(judged: &[Validated]) -> String {
    let wrong = judged.iter().filter(|file| !file.is_valid).count();
    let mut text: String = judged.iter().map(render).collect();
    let _ = match (judged.len(), wrong) {
        (0, _) => writeln!(text, "{DIM}no state files{DIM:#}"),
        (count, 0) => writeln!(text, "{GREEN}valid{GREEN:#}: {count} files"),
        (count, wrong) => writeln!(text, "{RED}wrong{RED:#}: {wrong} of {count} files"),
    };
    text
}

fn render(file: &Validated) -> String {
    let name = clean(&file.file);
    if file.is_valid {
        return format!("{GREEN}valid{GREEN:#}  {name} {DIM}({}){DIM:#}\n", file.kind);
    }
    let mut text = String::new();
    for fault in &file.faults {
        let at = if fault.path.is_empty() { String::new() } else { format!("{}: ", clean(&fault.path)) };
        let _ = writeln!(
            text,
            "{RED}wrong{RED:#}  {name}:{}:{}: {at}{} {DIM}({}){DIM:#}",
            fault.line,
            fault.column,
            clean(&fault.problem),
            file.kind
        );
        if !fault.text.is_empty() {
            let _ = writeln!(text, "       {DIM}{}{DIM:#}", clean(&fault.text));
        }
        if let Some(fix) = &fault.fix {
            let _ = writeln!(text, "       fix: {}", clean(fix));
        }
    }
    text
}

fn render_task(read: &Understood) -> String {
    let id = read.task_id.map_or_else(|| "#?".to_owned(), |id| format!("#{id}"));
    let title = read.title.as_deref().unwrap_or("(no title)");
    let mut fields = Fields::below(format!("{CYAN}{id}{CYAN:#} {BOLD}{}{BOLD:#}\n", clean(title)));
    let keys: Vec<&str> = read.metadata.iter().flat_map(|map| map.keys()).map(String::as_str).collect();
    fields.add("metadata", keys.join(", "));
    let checked = read.criteria.iter().filter(|criterion| criterion.checked).count();
    fields.add("criteria", format!("{checked} of {} ticked", read.criteria.len()));
    fields.add("inputs", count(read.chain_inputs.len(), "from other tasks"));
    fields.add("sessions", count(read.sessions.len(), "in full"));
    fields.add("output", if read.chain_output.is_some() { "written" } else { "not yet" });
    fields.add("size", format!("{} bytes, about {} tokens", read.size.bytes, read.size.tokens));
    for section in &read.size.sections {
        let title = if section.title.is_empty() { "(title)" } else { &section.title };
        fields.add("", format!("{title}: about {} tokens", section.tokens));
    }
    let mut text = fields.text;
    for unknown in &read.unknown {
        let _ = writeln!(
            text,
            "{YELLOW}kept{YELLOW:#}   line {}: unknown {}: {}",
            unknown.line,
            unknown.what,
            clean(&unknown.text)
        );
    }
    for fault in &read.faults {
        let _ =
            writeln!(text, "{RED}wrong{RED:#}  {}:{}: {}", fault.line, fault.column, clean(&fault.problem));
        if !fault.text.is_empty() {
            let _ = writeln!(text, "       {DIM}{}{DIM:#}", clean(&fault.text));
        }
    }
    for advice in &read.size.advice {
        let _ = writeln!(text, "{YELLOW}advice{YELLOW:#} {advice}");
    }
    if read.is_valid {
        let _ = writeln!(text, "{GREEN}understood{GREEN:#}: every section was read");
    }
    text
}

fn count(number: usize, what: &str) -> String {
    if number == 0 { "none".to_owned() } else { format!("{number} {what}") }
}
