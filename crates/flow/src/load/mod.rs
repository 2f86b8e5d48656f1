//! Reads a folder into a [`Workflow`] and reports every syntax error at once.
//!
//! Each file reads one part: `head` the top of `workflow.toml`, then `nodes`, `edges`, `levels`; `schemas` and
//! `roles` the other files. A part that cannot be read is left out, and the rest is still read. Whether names refer to
//! anything is for the check.

mod calls;
mod edges;
mod head;
mod levels;
mod nodes;
mod pointer;
mod roles;
mod schemas;
mod section;
mod sends;
mod shown;
mod signals;
mod tags;
mod unique;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use toml::Spanned;
use toml::de::DeTable;

use crate::expression::Part;
use crate::fault::{Fault, Faults, Position};
use crate::folder::{FILE_BYTES_MAX, FILES_MAX, Folder};
use crate::gaps::Gaps;
use crate::load::head::Head;
use crate::load::section::{Known, Reader, Section};
use crate::name::{NodeName, is_name};
use crate::role::Role;
use crate::schema::StateSchema;
use crate::source::{BYTE_ORDER_MARK, Source};
use crate::workflow::{Node, Target, Workflow};

/// How deep workflows may lie within each other: a plan, its parts, their parts.
const CHILDREN_DEPTH_MAX: usize = 4;

/// The file that a workflow begins with.
const MAIN: &str = "workflow.toml";

impl Workflow {
    /// Loads a workflow, or returns all its faults of form in the order of the files.
    pub fn load(folder: &Folder) -> Result<Workflow, Vec<Fault>> {
        let (workflows, found) = load_with_gaps(folder);
        match workflows.into_iter().next() {
            Some(workflow) if !found.iter().any(Fault::is_error) => {
                Ok(Workflow { warnings: found, ..workflow })
            }
            _ => Err(found),
        }
    }
}

/// Loads what can be read of a folder, with all its faults of form.
///
/// That is one workflow with its children, or the children alone if the outer one cannot be read at all.
pub(crate) fn load_with_gaps(folder: &Folder) -> (Vec<Workflow>, Vec<Fault>) {
    let faults = Faults::default();
    check_files(folder, &faults);
    let orphans = RefCell::default();
    let loading = Loading { folder: Arc::new(folder.clone()), faults: &faults, orphans: &orphans };
    let workflow = loading.load_within("", 0);
    let workflows = workflow.into_iter().chain(orphans.into_inner()).collect();
    (workflows, faults.into_sorted())
}

fn check_files(folder: &Folder, faults: &Faults) {
    let top = |file: &str| Source::new(file, "").position(0..0);
    if folder.files().len() > FILES_MAX {
        let message = format!("the folder has {} files, more than {FILES_MAX}", folder.files().len());
        faults.add(Fault::error("too-large", &top(MAIN), message));
    }
    for (name, text) in folder.files().iter().filter(|(_, text)| text.len() > FILE_BYTES_MAX) {
        let message = format!("the file has {} bytes, more than {FILE_BYTES_MAX}", text.len());
        faults.add(Fault::error("too-large", &top(name), message));
    }
    for (name, why) in folder.unreadable().iter().filter(|(name, _)| Folder::is_used(name)) {
        faults.add(Fault::error("unreadable-file", &top(name), format!("this cannot be read: {why}")));
    }
}

/// What one load shares.
pub(crate) struct Loading<'f> {
    folder: Arc<Folder>,
    faults: &'f Faults,
    /// The children of workflows that cannot be read.
    orphans: &'f RefCell<Vec<Workflow>>,
}

impl Loading<'_> {
    /// Returns the text of a file, or notes that it is missing or cannot be read where `at` asks for it.
    fn needed_file(&self, file: &str, at: &Position) -> Option<Source<'_>> {
        let found = self.find_file(file);
        match self.folder.unreadable().get(file) {
            // This is already reported under the name of the file itself.
            Some(_) if Folder::is_used(file) => {}
            Some(why) => {
                let message = format!("the file `{file}` cannot be read: {why}");
                self.faults.add(Fault::error("unreadable-file", at, message));
            }
            None if self.folder.find(file).is_none() => {
                let message = format!("there is no file `{file}`");
                self.faults.add(Fault::error("missing-file", at, message));
            }
            None => {}
        }
        found
    }

    fn find_file(&self, file: &str) -> Option<Source<'_>> {
        let text = self.folder.find(file).filter(|text| text.len() <= FILE_BYTES_MAX)?;
        // The mark that some editors put before a text is no part of JSON; readers of TOML pass over it themselves.
        let text = if file.ends_with(".toml") { text } else { text.trim_start_matches(BYTE_ORDER_MARK) };
        Some(Source::new(file, text))
    }

    /// Loads the workflow whose files begin with `prefix`.
    fn load_within(&self, prefix: &str, depth: usize) -> Option<Workflow> {
        let file = format!("{prefix}{MAIN}");
        let top = Source::new(file.as_str(), "").position(0..0);
        let mut gaps = Gaps::default();
        let children = self.load_children(prefix, depth, &top, &mut gaps);
        let roles = self.load_roles(prefix, &top, &mut gaps);
        let source = self.needed_file(&file, &top);
        let parsed = source.as_ref().and_then(|source| self.parse(source));
        let (Some(source), Some(parsed)) = (&source, &parsed) else {
            self.orphans.borrow_mut().extend(children.into_values());
            self.check_usual_schemas(prefix);
            return None;
        };
        let reader = Reader { source, faults: self.faults, known: Known::default() };
        let title = "the workflow".to_owned();
        let section =
            Section::new(reader, parsed.get_ref(), title, Part::Workflow, source.line_at(0), head::KEYS);
        Some(self.read_main(prefix, section, roles, children, gaps))
    }

    fn parse<'s>(&self, source: &Source<'s>) -> Option<Spanned<DeTable<'s>>> {
        let (parsed, errors) = DeTable::parse_recoverable(source.text);
        for error in &errors {
            let at = source.position(error.span().unwrap_or(0..0));
            let message = format!("the file cannot be read: {}", error.message());
            self.faults.add(Fault::error("bad-toml", &at, message));
        }
        // What was understood of a broken file would only give faults that are none.
        errors.is_empty().then_some(parsed)
    }

    fn read_main(
        &self,
        prefix: &str,
        section: Section<'_>,
        roles: BTreeMap<String, Role>,
        children: BTreeMap<String, Workflow>,
        mut gaps: Gaps,
    ) -> Workflow {
        let before = self.faults.count();
        let bind = head::read_bind(&section);
        gaps.has_doubtful_values |= self.faults.count() > before;
        let binds = head::bind_names(&section);
        let names: Vec<String> = binds.iter().cloned().chain(shown::view_names(&section)).collect();
        let views = shown::read_views(&section, &names, binds.len());
        let section = section.with_variables(&names);
        let files_folder = shown::read_folder(&section, prefix);
        let files = self.read_files(prefix, &section);
        let head = Head::read(&section);
        let board = head::read_board(&section);
        let nodes = self.read_nodes(prefix, &section, &roles, &mut gaps);
        let edges = edges::read(&section, &mut gaps);
        let before_signals = self.faults.count_hard();
        let signals = self.read_signals(prefix, &section);
        gaps.has_lost_signals = self.faults.count_hard() > before_signals;
        let before = self.faults.count();
        let levels = levels::read(&section);
        gaps.has_doubtful_levels = self.faults.count() > before;
        let before = self.faults.count();
        let schema = self.load_state_schema(prefix, &section);
        let input = self.load_input_schema(prefix, &section);
        gaps.has_doubtful_values |= self.faults.count() > before;
        gaps.is_state_unknown = schema.is_none();
        let Head { name, title, start } = head;
        gaps.is_start_unknown = start.is_none();
        let mut workflow = Workflow {
            name,
            title,
            start: start.unwrap_or_else(|| unknown_start(section.header())),
            bind,
            board,
            files_folder,
            views,
            files,
            nodes,
            edges,
            signals,
            levels,
            schema: schema.unwrap_or_else(StateSchema::open),
            input: input.flatten(),
            roles,
            children,
            facts: BTreeSet::new(),
            warnings: Vec::new(),
            gaps,
            folder: Arc::clone(&self.folder),
            at: section.header().clone(),
        };
        workflow.find_sources();
        workflow.facts = workflow.find_facts();
        workflow
    }

    /// Reads the nodes. Prompts are held against them only if the names of all inputs could be read.
    fn read_nodes(
        &self,
        prefix: &str,
        section: &Section<'_>,
        roles: &BTreeMap<String, Role>,
        gaps: &mut Gaps,
    ) -> Vec<Node> {
        let before = self.faults.count_hard();
        let nodes = nodes::read(section, gaps);
        if self.faults.count_hard() == before {
            roles::check_inputs(self, prefix, &nodes, roles);
        }
        nodes
    }

    fn load_children(
        &self,
        prefix: &str,
        depth: usize,
        at: &Position,
        gaps: &mut Gaps,
    ) -> BTreeMap<String, Workflow> {
        let mut children = BTreeMap::new();
        for name in self.folder.names_within(&format!("{prefix}children")) {
            let within = format!("{prefix}children/{name}/");
            if depth >= CHILDREN_DEPTH_MAX {
                let message =
                    format!("`{within}` lies too deep: {CHILDREN_DEPTH_MAX} levels of children are allowed");
                self.faults.add(Fault::error("too-deep", at, message));
            } else if !is_name(&name) {
                let message = format!("`{name}` is not a valid name for a child");
                self.faults.add(Fault::error("bad-name", at, message));
            } else {
                match self.load_within(&within, depth + 1) {
                    Some(child) => drop(children.insert(name, child)),
                    None => drop(gaps.children.insert(name)),
                }
            }
        }
        children
    }
}

/// Stands for a start that cannot be read.
fn unknown_start(at: &Position) -> Target {
    Target { name: NodeName::parse("unknown").expect("it is a name"), at: at.clone() }
}
