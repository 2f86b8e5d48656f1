//! A role: its prompt, a template over the inputs of a node, and the schema of what it must return.
//!
//! Templates are bounded in what they may say ([`crate::prompt_rules`]), compute and write. A name that was not given renders as nothing, because
//! inputs may be undefined; names that no node gives are found when the workflow is loaded.

use std::collections::BTreeSet;
use std::io::{self, Write};

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior, escape_formatter};
use serde_json::{Map, Value};

use crate::fault::Position;
use crate::nesting::{OUTPUT_LEVELS_MAX, is_nested_deeper};
use crate::prompt_filters;
use crate::schema::{Schema, SchemaFault};

/// The longest prompt, in bytes: far beyond what an agent reads with care.
pub const PROMPT_BYTES_MAX: usize = 1024 * 1024;

/// The most instructions of a template: some passes over ten thousand lines.
pub const PROMPT_FUEL: u64 = 250_000;

/// The most instructions times bytes of the inputs, since one instruction may read them all.
const PROMPT_WORK: u64 = 32 * 1024 * 1024 * 1024;

/// A role of a workflow.
#[derive(Debug)]
pub struct Role {
    /// Its name.
    pub name: String,
    /// What it must return.
    pub output: Schema,
    /// The top of its prompt.
    pub at: Position,
    environment: Environment<'static>,
    reads: BTreeSet<String>,
}

/// Why a prompt could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PromptFault {
    /// The template stopped over its inputs.
    #[error("the prompt of role `{role}` stopped at line {line}")]
    Template {
        /// The role.
        role: String,
        /// The line of the template.
        line: usize,
        /// What stopped it.
        #[source]
        source: minijinja::Error,
    },
    /// The template computed too much.
    #[error(
        "the prompt of role `{role}` needs more than {instructions} instructions for {bytes} bytes of inputs"
    )]
    TooMuch {
        /// The role.
        role: String,
        /// How many it may have.
        instructions: u64,
        /// The size of what it was given.
        bytes: u64,
    },
    /// The prompt is too long.
    #[error("the prompt of role `{role}` is longer than {PROMPT_BYTES_MAX} bytes")]
    TooLong {
        /// The role.
        role: String,
    },
}

impl Role {
    /// Compiles a role. The name of the template is that of its file.
    pub(crate) fn compile(
        name: &str,
        prompt: &str,
        output: Schema,
        at: Position,
    ) -> Result<Role, minijinja::Error> {
        let environment = environment_of(name, prompt)?;
        let reads = environment.get_template(name)?.undeclared_variables(false);
        let is_global = |name: &String| environment.globals().any(|(global, _)| global == name);
        let reads = reads.into_iter().filter(|name| !is_global(name)).collect();
        Ok(Role { name: name.to_owned(), output, at, environment, reads })
    }

    /// Judges a prompt without the rest of its role.
    pub(crate) fn check_template(name: &str, prompt: &str) -> Result<(), minijinja::Error> {
        environment_of(name, prompt).map(drop)
    }

    /// Whether a prompt can call a filter of that name.
    pub(crate) fn has_filter(&self, name: &str) -> bool {
        let called = self.environment.empty_state().apply_filter(name, &[]);
        !called.is_err_and(|error| error.kind() == ErrorKind::UnknownFilter)
    }

    /// Whether a prompt can call a test of that name.
    pub(crate) fn has_test(&self, name: &str) -> bool {
        let called = self.environment.empty_state().perform_test(name, &[]);
        !called.is_err_and(|error| error.kind() == ErrorKind::UnknownTest)
    }

    /// Returns the names that the prompt reads from its inputs.
    pub fn reads(&self) -> &BTreeSet<String> {
        &self.reads
    }

    /// Makes the prompt from inputs.
    pub fn prompt(&self, inputs: &Map<String, Value>) -> Result<String, PromptFault> {
        let mut page = Page::default();
        let bytes = inputs.values().map(weigh).sum();
        let instructions = PROMPT_FUEL.min(PROMPT_WORK / u64::max(bytes, 1));
        let mut environment = self.environment.clone();
        environment.set_fuel(Some(instructions));
        prompt_filters::begin();
        let rendered = environment
            .get_template(&self.name)
            .and_then(|template| template.render_captured_to(Serde(inputs), &mut page).map(drop));
        let role = || self.name.clone();
        match rendered {
            Ok(()) => Ok(String::from_utf8_lossy(&page.bytes).into_owned()),
            Err(_) if page.is_full => Err(PromptFault::TooLong { role: role() }),
            Err(error) if error.kind() == ErrorKind::OutOfFuel => {
                Err(PromptFault::TooMuch { role: role(), instructions, bytes })
            }
            Err(source) => {
                Err(PromptFault::Template { role: role(), line: source.line().unwrap_or_default(), source })
            }
        }
    }

    /// Judges what the role returned.
    pub fn check_output(&self, output: &Value) -> Result<(), Vec<SchemaFault>> {
        if is_nested_deeper(output, OUTPUT_LEVELS_MAX) {
            let message = format!("it is nested deeper than {OUTPUT_LEVELS_MAX} levels");
            return Err(vec![SchemaFault { path: String::new(), message }]);
        }
        self.output.check(output)
    }
}

fn environment_of(name: &str, prompt: &str) -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_formatter(|output, state, value| {
        // A null value was undefined in the node's inputs, so the prompt shows nothing.
        if value.is_none() { Ok(()) } else { escape_formatter(output, state, value) }
    });
    ["debug", "dict", "namespace"].iter().for_each(|name| environment.remove_global(name));
    prompt_filters::add_filters(&mut environment);
    environment.add_template_owned(name.to_owned(), prompt.to_owned())?;
    Ok(environment)
}

/// Returns what a value weighs, roughly.
fn weigh(value: &Value) -> u64 {
    let inside: u64 = match value {
        Value::String(text) => text.len() as u64,
        Value::Array(items) => items.iter().map(weigh).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() as u64 + weigh(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    inside + 8
}

/// A bounded buffer that a template writes to.
#[derive(Debug, Default)]
struct Page {
    bytes: Vec<u8>,
    is_full: bool,
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > PROMPT_BYTES_MAX {
            self.is_full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
