//! Reads a folder into a [`Workflow`], and finds every fault of form in one go.
//!
//! Each file reads one part: `head` the top of `workflow.toml`, then `nodes`, `edges`, `levels`; `schemas` and
//! `roles` the other files. A part that cannot be read is left out and reading goes on. Whether names lead anywhere
//! is not asked here.

mod edges;
mod head;
mod levels;
mod nodes;
mod pointer;
mod roles;
mod schemas;
mod section;

use std::collections::BTreeMap;
use std::sync::Arc;

use toml::Spanned;
use toml::de::DeTable;

use crate::expression::Part;
use crate::fault::{Fault, Faults, Position};
use crate::folder::{FILE_BYTES_MAX, FILES_MAX, Folder};
use crate::load::head::Head;
use crate::load::section::{Reader, Section};
use crate::name::is_name;
use crate::role::Role;
use crate::source::Source;
use crate::workflow::{Node, Workflow};

/// How deep workflows may lie within each other: a plan, its parts, their parts.
const CHILDREN_DEPTH_MAX: usize = 4;

/// The file that a workflow begins with.
const MAIN: &str = "workflow.toml";

impl Workflow {
    /// Loads a workflow, or returns all its faults of form in the order of the files.
    pub fn load(folder: &Folder) -> Result<Workflow, Vec<Fault>> {
        let faults = Faults::default();
        check_sizes(folder, &faults);
        let loading = Loading { folder: Arc::new(folder.clone()), faults: &faults };
        let workflow = loading.load_within("", 0);
        let found = faults.into_sorted();
        match workflow {
            Some(workflow) if !found.iter().any(Fault::is_error) => {
                Ok(Workflow { warnings: found, ..workflow })
            }
            _ => Err(found),
        }
    }
}

fn check_sizes(folder: &Folder, faults: &Faults) {
    let top = |file: &str| Source::new(file, "").position(0..0);
    if folder.files().len() > FILES_MAX {
        let message = format!("the folder has {} files, more than {FILES_MAX}", folder.files().len());
        faults.add(Fault::error("too-large", &top(MAIN), message));
    }
    for (name, text) in folder.files().iter().filter(|(_, text)| text.len() > FILE_BYTES_MAX) {
        let message = format!("the file has {} bytes, more than {FILE_BYTES_MAX}", text.len());
        faults.add(Fault::error("too-large", &top(name), message));
    }
}

/// What one load shares.
pub(crate) struct Loading<'f> {
    folder: Arc<Folder>,
    faults: &'f Faults,
}

impl Loading<'_> {
    /// Returns the text of a file, or notes that it is missing where `at` asks for it.
    fn needed_file(&self, file: &str, at: &Position) -> Option<Source<'_>> {
        let found = self.find_file(file);
        if self.folder.find(file).is_none() {
            let message = format!("there is no file `{file}`");
            self.faults.add(Fault::error("missing-file", at, message));
        }
        found
    }

    fn find_file(&self, file: &str) -> Option<Source<'_>> {
        self.folder.find(file).filter(|text| text.len() <= FILE_BYTES_MAX).map(|text| Source::new(file, text))
    }

    /// Loads the workflow whose files begin with `prefix`.
    fn load_within(&self, prefix: &str, depth: usize) -> Option<Workflow> {
        let file = format!("{prefix}{MAIN}");
        let top = Source::new(file.as_str(), "").position(0..0);
        let children = self.load_children(prefix, depth, &top);
        let roles = self.load_roles(prefix, &top);
        let source = self.needed_file(&file, &top)?;
        let parsed = self.parse(&source)?;
        let reader = Reader { source: &source, faults: self.faults, variables: &[] };
        let title = "the workflow".to_owned();
        let section =
            Section::new(reader, parsed.get_ref(), title, Part::Workflow, source.line_at(0), head::KEYS);
        self.read_main(prefix, section, roles, children)
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
    ) -> Option<Workflow> {
        let bind = head::read_bind(&section);
        let variables = head::bind_names(&section);
        let section = section.with_variables(&variables);
        let head = Head::read(&section);
        let board = head::read_board(&section);
        let nodes = self.read_nodes(prefix, &section, &roles);
        let edges = edges::read(&section);
        let levels = levels::read(&section);
        let schema = self.load_state_schema(prefix, &section);
        let input = self.load_input_schema(prefix, &section);
        let Head { name, title, start } = head?;
        Some(Workflow {
            name,
            title,
            start,
            bind,
            board,
            nodes,
            edges,
            levels,
            schema: schema?,
            input: input?,
            roles,
            children,
            warnings: Vec::new(),
            folder: Arc::clone(&self.folder),
            at: section.header().clone(),
        })
    }

    /// Reads the nodes. Prompts are held against them only if all of them could be read.
    fn read_nodes(&self, prefix: &str, section: &Section<'_>, roles: &BTreeMap<String, Role>) -> Vec<Node> {
        let before = self.faults.count();
        let nodes = nodes::read(section);
        if self.faults.count() == before {
            roles::check_inputs(self, prefix, &nodes, roles);
        }
        nodes
    }

    fn load_children(&self, prefix: &str, depth: usize, at: &Position) -> BTreeMap<String, Workflow> {
        let mut children = BTreeMap::new();
        for name in self.folder.names_within(&format!("{prefix}children")) {
            let within = format!("{prefix}children/{name}/");
            if depth >= CHILDREN_DEPTH_MAX {
                let message =
                    format!("`{within}` lies too deep: {CHILDREN_DEPTH_MAX} levels of children are allowed");
                self.faults.add(Fault::error("too-deep", at, message));
            } else if !is_name(&name) {
                let message = format!("`{name}` is no name for a child");
                self.faults.add(Fault::error("bad-name", at, message));
            } else {
                children.extend(self.load_within(&within, depth + 1).map(|child| (name, child)));
            }
        }
        children
    }
}
