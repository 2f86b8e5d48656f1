//! The roles of a folder: a prompt and an output schema each.

use std::collections::BTreeMap;

use crate::fault::{Fault, Position};
use crate::gaps::Gaps;
use crate::load::Loading;
use crate::load::calls::{Call, find_calls};
use crate::load::tags::find_meant;
use crate::name::is_name;
use crate::nearest::find_nearest;
use crate::prompt_rules::{Misuse, find_misuses};
use crate::role::Role;
use crate::schema::Schema;
use crate::source::Source;
use crate::workflow::{Node, NodeKind};

/// What the file of a prompt ends with.
const PROMPT: &str = ".md";

/// What the file of an output schema ends with.
const OUTPUT: &str = ".output.json";

impl Loading<'_> {
    /// Loads the roles of a workflow. A prompt and a schema come in pairs; for one that is not, something stands in.
    pub(super) fn load_roles(&self, prefix: &str, at: &Position, gaps: &mut Gaps) -> BTreeMap<String, Role> {
        let within = format!("{prefix}roles/");
        let names = |suffix: &str| -> Vec<String> {
            let files = self.folder.names().filter_map(|file| file.strip_prefix(&within));
            files.filter_map(|file| file.strip_suffix(suffix)).map(str::to_owned).collect()
        };
        let (prompts, outputs) = (names(PROMPT), names(OUTPUT));
        let mut roles = BTreeMap::new();
        for name in &prompts {
            roles.extend(self.load_role(&within, name, at, gaps).map(|role| (name.clone(), role)));
        }
        for name in outputs.iter().filter(|name| !prompts.contains(name)) {
            let message = format!("role `{name}` has no prompt: there is no file `{within}{name}{PROMPT}`");
            let top = Source::new(format!("{within}{name}{OUTPUT}"), "").position(0..0);
            self.faults.add(Fault::error("missing-file", &top, message));
            gaps.roles.insert(name.clone());
            roles.extend(Role::compile(name, "", Schema::open(), top).ok().map(|role| (name.clone(), role)));
        }
        roles
    }

    fn load_role(&self, within: &str, name: &str, at: &Position, gaps: &mut Gaps) -> Option<Role> {
        let file = format!("{within}{name}{PROMPT}");
        // A file that is too large is empty here; its size is already reported.
        let prompt = self.needed_file(&file, at).unwrap_or_else(|| Source::new(file, ""));
        let top = prompt.line_at(0);
        if !is_name(name) {
            self.faults.add(Fault::error(
                "bad-name",
                &top,
                format!("`{name}` is not a valid name for a role"),
            ));
            return None;
        }
        let output = self.needed_file(&format!("{within}{name}{OUTPUT}"), &top);
        let output = output.and_then(|source| self.compile_schema(&source)).unwrap_or_else(|| {
            gaps.roles.insert(name.to_owned());
            Schema::open()
        });
        if !self.check_template(name, &prompt, ("prompt", "compute the value in the `input` of the node")) {
            return Role::compile(name, "", output, top).ok();
        }
        let role = Role::compile(name, prompt.text, output, top).ok()?;
        self.check_calls(&role, &prompt);
        Some(role)
    }

    /// Judges the text of a template, and tells whether it can be compiled.
    pub(super) fn check_template(&self, name: &str, prompt: &Source<'_>, (what, hint): (&str, &str)) -> bool {
        if let Err(error) = Role::check_template(name, prompt.text) {
            let detail = error.detail().unwrap_or("it is not a template");
            let bytes = find_meant(prompt.text, error.line().unwrap_or(1), detail);
            let message = format!("the {what} cannot be read: {detail}");
            self.faults.add(Fault::error("bad-template", &prompt.position(bytes), message));
            return false;
        }
        for Misuse { bytes, message } in find_misuses(prompt.text) {
            let fault = Fault::error("bad-template", &prompt.position(bytes), message);
            self.faults.add(fault.with_hint(hint));
        }
        true
    }

    /// Finds filters and tests that a prompt cannot call.
    fn check_calls(&self, role: &Role, prompt: &Source<'_>) {
        for (call, bytes) in find_calls(prompt.text) {
            let name = &prompt.text[bytes.clone()];
            let (rule, what, is_known) = match call {
                Call::Filter => ("unknown-filter", "filter", role.has_filter(name)),
                Call::Test => ("unknown-test", "test", role.has_test(name)),
            };
            if !is_known {
                let message = format!("a prompt has no {what} called `{name}`");
                self.faults.add(Fault::error(rule, &prompt.position(bytes), message));
            }
        }
    }
}

/// Finds names in prompts that no node gives.
pub(super) fn check_inputs(
    loading: &Loading<'_>,
    prefix: &str,
    nodes: &[Node],
    roles: &BTreeMap<String, Role>,
) {
    for role in roles.values() {
        let file = format!("{prefix}roles/{}{PROMPT}", role.name);
        let Some(source) = loading.find_file(&file) else { continue };
        let given = given_to(nodes, &role.name);
        let Some(given) = given else { continue };
        for name in role.reads().iter().filter(|name| !given.contains(&name.as_str())) {
            let at = source.position(find_word(source.text, name));
            let message =
                format!("no node gives the prompt of role `{}` an input called `{name}`", role.name);
            let fault = Fault::error("unknown-input", &at, message);
            loading.faults.add(fault.with_nearest(find_nearest(name, given.iter().copied())));
        }
    }
}

/// Returns the inputs that nodes give a role, or nothing if no node has it.
fn given_to<'n>(nodes: &'n [Node], wanted: &str) -> Option<Vec<&'n str>> {
    let mut given = None;
    for node in nodes {
        if let NodeKind::Agent { input, .. } = &node.kind
            && node.kind.prompt_name().is_some_and(|prompt| prompt.name == wanted)
        {
            given.get_or_insert_with(Vec::new).extend(input.iter().map(|(name, _)| name.name.as_str()));
        }
    }
    given
}

/// Returns where a word stands in a tag of a template.
fn find_word(text: &str, word: &str) -> std::ops::Range<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let stands_alone = |at: &usize| {
        let line = &text[..*at];
        let in_tag = line.rfind("{{").max(line.rfind("{%")) > line.rfind("}}").max(line.rfind("%}"));
        let after = text[at + word.len()..].chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_');
        in_tag && !line.ends_with(is_part) && !after
    };
    let found = text.match_indices(word).map(|(at, _)| at).find(stands_alone);
    found.map_or(0..0, |at| at..at + word.len())
}
