//! What a run shows: views, which are derived values with a name, and files that follow its state.
//!
//! A view or a file reads the state, `input`, `feedback`, facts and views, but never the clock or `output`: nothing would
//! say when it is out of date. What it reads is found once, when the workflow is loaded ([`Sources`]), so its owner knows
//! what to evaluate again after a change without evaluating anything. Nothing here opens a file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::expression::{Expression, Part};
use crate::fault::Position;
use crate::import::ImportRule;
use crate::path::{PathStep, ResolvedPath};
use crate::role::{PromptFault, Role};
use crate::schema::Schema;
use crate::step::{Look, StepFault};
use crate::variables::FactName;
use crate::workflow::{Named, Workflow};

/// The most views of one workflow: each has limits of its own, and together they must not take forever.
pub(crate) const VIEWS_MAX: usize = 64;

/// The most files of one workflow.
pub(crate) const FILES_OF_RUN_MAX: usize = 32;

/// The largest value of a view or a file, in bytes: that of the result of a run.
pub const SHOWN_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The longest path of a file, in bytes, below the folder of the workflow.
const PATH_BYTES_MAX: usize = 512;

/// The longest name of one folder or file, with room for what is put behind the name of a file that is kept.
const NAME_BYTES_MAX: usize = 200;

/// A derived value that has a name.
#[derive(Debug, Clone)]
pub struct View {
    /// The name, without the `$`.
    pub name: String,
    /// The value.
    pub value: Expression,
    /// What it depends on, also through other views.
    pub reads: Sources,
    /// Where its name stands.
    pub at: Position,
}

/// A file that follows a run.
#[derive(Debug)]
pub struct StateFile {
    /// Its name in the workflow.
    pub name: String,
    /// Where it is, below the folder of the workflow.
    pub path: FilePath,
    /// What it holds.
    pub content: Content,
    /// What an import takes of it, beside what goes back to a place or a list.
    pub import: Vec<ImportRule>,
    /// What it depends on, also through views.
    pub reads: Sources,
    /// Where its name stands.
    pub at: Position,
}

/// What a file holds.
#[derive(Debug)]
pub enum Content {
    /// A place of the state, in both directions.
    Place {
        /// The place.
        place: ResolvedPath,
        /// Where the place stands.
        at: Position,
        /// The field that is the text of a Markdown file; absent: the file is JSON.
        body: Option<Named>,
    },
    /// A list of the state that only grows, a line for each item.
    Append {
        /// The list.
        list: ResolvedPath,
        /// Where the list stands.
        at: Position,
        /// What each item is rendered with; absent: a line of JSON.
        template: Option<Template>,
    },
    /// A derived document.
    Value {
        /// The value.
        value: Expression,
        /// What it has to fit.
        schema: Option<Arc<Schema>>,
        /// The field that is the text of a Markdown file.
        body: Option<Named>,
        /// What it is rendered with; absent: JSON, or Markdown with `body`.
        template: Option<Template>,
    },
}

/// A template of a file.
#[derive(Debug)]
pub struct Template(pub(crate) Role);

impl Template {
    /// Renders a value: the fields of an object by their names, anything else as `value`.
    pub fn render(&self, value: &Value) -> Result<String, PromptFault> {
        match value {
            Value::Object(fields) => self.0.prompt(fields),
            other => {
                let mut fields = Map::new();
                fields.insert("value".to_owned(), other.clone());
                self.0.prompt(&fields)
            }
        }
    }
}

/// What a view or a file depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    /// Fields of the state, and `feedback`.
    pub fields: BTreeSet<String>,
    /// Whether any field may be read.
    pub any_field: bool,
    /// Facts.
    pub facts: BTreeSet<FactName>,
    /// The views that are evaluated for it.
    pub views: BTreeSet<String>,
    /// Whether it stays the same for a run: it reads only `input`, `$run.id` and `$run.createdAt`.
    pub is_constant: bool,
}

impl Sources {
    fn add(&mut self, other: &Sources) {
        self.fields.extend(other.fields.iter().cloned());
        self.any_field |= other.any_field;
        self.facts.extend(&other.facts);
        self.views.extend(other.views.iter().cloned());
        self.is_constant &= other.is_constant;
    }

    /// Finds what an expression depends on, given the views that it may use.
    pub(crate) fn of(workflow: &Workflow, expression: &Expression, views: &[View]) -> Sources {
        let reads = expression.reads();
        let mut found = Sources { is_constant: true, any_field: reads.whole_input, ..Sources::default() };
        for path in &reads.paths {
            match path.first().map(String::as_str) {
                Some("input" | "output") | None => {}
                Some(field) => drop(found.fields.insert(field.to_owned())),
            }
        }
        for name in &reads.variables {
            if let Some(bind) = workflow.bind.iter().find(|bind| bind.name == *name) {
                found.fields.insert(bind.place.field().to_owned());
                for within in crate::check::expressions_of_place(&bind.place) {
                    found.add(&Sources::of(workflow, within, &[]));
                }
            } else if let Some(fact) = FactName::find(name) {
                found.facts.insert(fact);
            } else if let Some(view) = views.iter().find(|view| view.name == *name) {
                found.views.insert(name.clone());
                found.add(&view.reads);
            }
        }
        let is_fixed = |path: &Vec<String>| match FactName::find(&path[0]) {
            Some(FactName::Run) => matches!(path.get(1).map(String::as_str), Some("id" | "createdAt")),
            Some(_) => false,
            None => true,
        };
        found.is_constant &=
            found.fields.is_empty() && !found.any_field && reads.variable_paths.iter().all(is_fixed);
        found
    }
}

/// The path of a file: text, and views that are constant for a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePath {
    /// As it is written.
    pub text: String,
    pub(crate) parts: Vec<PathPart>,
}

/// One part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PathPart {
    Text(String),
    View(String),
}

/// Why a path cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathFault {
    /// It would be outside the folder, or hidden in it.
    #[error("`{0}` is no path within the folder: use names that begin with no `.`, joined by `/`")]
    Outside(String),
    /// A part of it is no name.
    #[error("`{{{view}}}` of the path is {found}, and has to be a name without `/`")]
    NoName {
        /// The view.
        view: String,
        /// What it is.
        found: String,
    },
    /// The view cannot be evaluated.
    #[error("a part of the path cannot be evaluated: {0}")]
    Failed(String),
}

impl FilePath {
    /// Reads a path such as `{id}.progress/plan.json`; the error is the byte at which it is no path.
    pub(crate) fn parse(text: &str) -> Result<FilePath, usize> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find(['{', '}']) {
            let at = text.len() - rest.len() + open;
            let within = rest[open..].strip_prefix('{').ok_or(at)?;
            let close = within.find('}').ok_or(at)?;
            let name = &within[..close];
            let is_name = !name.is_empty()
                && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
            if !is_name {
                return Err(at);
            }
            if open > 0 {
                parts.push(PathPart::Text(rest[..open].to_owned()));
            }
            parts.push(PathPart::View(name.to_owned()));
            rest = &within[close + 1..];
        }
        if !rest.is_empty() {
            parts.push(PathPart::Text(rest.to_owned()));
        }
        let sample: String = parts
            .iter()
            .map(|part| match part {
                PathPart::Text(text) => text.as_str(),
                PathPart::View(_) => "x",
            })
            .collect();
        if is_safe_path(&sample) { Ok(FilePath { text: text.to_owned(), parts }) } else { Err(0) }
    }

    /// Lists the views in it.
    pub fn views(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            PathPart::View(name) => Some(name.as_str()),
            PathPart::Text(_) => None,
        })
    }

    /// Returns the path for a run.
    pub fn resolve(&self, look: &Look<'_>) -> Result<String, PathFault> {
        let mut path = String::new();
        for part in &self.parts {
            match part {
                PathPart::Text(text) => path.push_str(text),
                PathPart::View(name) => {
                    let found = look.view(name).map_err(|fault| PathFault::Failed(fault.to_string()))?;
                    let found = found.as_deref().unwrap_or(&Value::Null);
                    match found.as_str().filter(|text| !text.is_empty() && !text.contains('/')) {
                        Some(text) => path.push_str(text),
                        None => {
                            let found = crate::step::tell_value(found);
                            return Err(PathFault::NoName { view: name.clone(), found });
                        }
                    }
                }
            }
        }
        if is_safe_path(&path) { Ok(path) } else { Err(PathFault::Outside(path)) }
    }
}

/// Whether a text is a relative path without `.`, `..`, hidden names and letters that a terminal would obey.
pub fn is_safe_path(path: &str) -> bool {
    let is_safe_name = |name: &str| {
        !name.is_empty()
            && name.len() <= NAME_BYTES_MAX
            && !name.starts_with('.')
            && !name.chars().any(|letter| letter.is_control() || letter == '\\')
            && !regatta_expr::is_deceptive(name)
    };
    path.len() <= PATH_BYTES_MAX && path.split('/').all(is_safe_name)
}

/// The views that were evaluated, by name; nothing where one is undefined. Its owner removes what is out of date.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Remembered(pub BTreeMap<String, Option<Arc<Value>>>);

impl StateFile {
    /// Evaluates what the file holds: the place, the list, or the value. Nothing or null means that there is no file.
    pub fn evaluate(&self, look: &Look<'_>) -> Result<Option<Value>, StepFault> {
        match &self.content {
            Content::Place { place, .. } | Content::Append { list: place, .. } => {
                Ok(place.find(look.root()).cloned())
            }
            Content::Value { value, .. } => look.evaluate_items(value, SHOWN_BYTES_MAX),
        }
    }

    /// Whether a person may edit it.
    pub fn is_two_way(&self) -> bool {
        matches!(self.content, Content::Place { .. })
    }
}

impl Workflow {
    /// Finds the view of that name.
    pub fn find_view(&self, name: &str) -> Option<&View> {
        self.views.iter().find(|view| view.name == name)
    }

    /// Finds the views of a child that expressions here read; which field of `view` is read may depend on the values, so
    /// every view counts that such an expression names anywhere.
    pub fn views_read_of(&self, child: &Workflow) -> BTreeSet<String> {
        let usages = crate::check::all_expressions(self);
        let reads_children = |expression: &&Expression| {
            let reads = expression.reads();
            reads.any_variable || reads.variables.iter().any(|name| name == FactName::Children.as_str())
        };
        let readers: Vec<&Expression> =
            usages.iter().map(|usage| usage.expression).filter(reads_children).collect();
        let reads_all = readers.iter().any(|expression| reads_whole_view(expression.text()));
        let is_read = |view: &&View| {
            reads_all || readers.iter().any(|expression| expression.text().contains(&*view.name))
        };
        child.views.iter().filter(is_read).map(|view| view.name.clone()).collect()
    }

    /// Whether a step of it or of its children reads a fact.
    pub fn reads_facts_in_steps(&self) -> bool {
        !self.facts.is_empty() || self.children.values().any(Workflow::reads_facts_in_steps)
    }

    /// Whether anything of it or its children reads facts or is written to files.
    pub fn needs_facts(&self) -> bool {
        let reads = |usage: &crate::check::Usage<'_>| !self.facts_of([usage.expression]).is_empty();
        !self.files.is_empty()
            || !self.facts.is_empty()
            || crate::check::all_expressions(self).iter().any(reads)
            || self.children.values().any(Workflow::needs_facts)
    }

    /// Finds what views and files read; everything else of the workflow has been loaded.
    pub(crate) fn find_sources(&mut self) {
        let mut views = std::mem::take(&mut self.views);
        for number in 0..views.len() {
            let (above, rest) = views.split_at_mut(number);
            rest[0].reads = Sources::of(self, &rest[0].value, above);
        }
        let mut files = std::mem::take(&mut self.files);
        for file in &mut files {
            file.reads = match &file.content {
                Content::Place { place, .. } | Content::Append { list: place, .. } => {
                    let field = |step: &PathStep| match step {
                        PathStep::Key(name) => Some(name.to_string()),
                        PathStep::Index(_) => None,
                    };
                    let fields = place.steps().first().and_then(field).into_iter().collect();
                    Sources { fields, ..Sources::default() }
                }
                Content::Value { value, .. } => Sources::of(self, value, &views),
            };
        }
        (self.views, self.files) = (views, files);
    }

    /// Finds the facts that these expressions read, also through views.
    pub(crate) fn facts_of<'e>(
        &self,
        expressions: impl IntoIterator<Item = &'e Expression>,
    ) -> BTreeSet<FactName> {
        let mut facts = BTreeSet::new();
        for expression in expressions {
            facts.extend(Sources::of(self, expression, &self.views).facts);
        }
        facts
    }
}

/// Whether a text reads `view` without naming one of its fields.
fn reads_whole_view(text: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices("view").any(|(at, word)| {
        let (before, after) = (&text[..at], text[at + word.len()..].trim_start());
        !before.ends_with(is_part)
            && !before.ends_with(['\'', '"', '$'])
            && !after.starts_with('.')
            && !after.starts_with(is_part)
    })
}

/// Returns the part that the expressions of a view belong to.
pub(crate) fn part_of_view(name: &str) -> Part {
    Part::View(name.to_owned())
}
