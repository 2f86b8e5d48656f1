//! Decides what an agent is answered when it asks for permission, and finds the option that says so.
//!
//! Options are distinguished by their kind: their ids and names differ between agents. Paths are those that the request
//! names anywhere; whether one is inside of the working folder is looked up on the disk, because of links.

use std::path::Path;

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionId, PermissionOptionKind, RawValue, ToolCallContent, ToolCallUpdate,
    ToolKind,
};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::updates::kind_name;
use super::wire;
use crate::folder::Folder;
use crate::headless::event::text;
use crate::output::PermissionAnswer;
use crate::permission::Permissions;
use crate::text::cut_length;

/// Fields of a tool's input that hold a path.
const PATH_FIELDS: [&str; 11] = [
    "path",
    "file_path",
    "filePath",
    "filepath",
    "notebook_path",
    "abs_path",
    "absolute_path",
    "dir_path",
    "directory",
    "cwd",
    "workdir",
];

/// Fields of a tool's input that hold a command.
const COMMAND_FIELDS: [&str; 4] = ["command", "cmd", "script", "argv"];

/// Most paths of one request that are looked at; one with more is not let through unseen.
const PATHS_MAX: usize = 200;

/// Longest description of what is asked for.
const WHAT_BYTES_MAX: usize = 500;

/// Longest id of an option that is chosen: agents use a few words.
const OPTION_BYTES_MAX: usize = 1000;

/// What is to be done about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It is answered by the policy.
    Answer(PermissionAnswer),
    /// A person is asked.
    Ask,
}

/// Decides by the policy; `is_whole` tells whether all that the request names could be read.
///
/// A command stays inside only where a sandbox holds it. Without one, `ask` asks about each.
pub(crate) fn decide(
    policy: Permissions,
    is_shut_in: bool,
    folder: &Folder,
    call: &ToolCallUpdate,
    is_whole: bool,
) -> Decision {
    match policy {
        Permissions::Deny => Decision::Answer(PermissionAnswer::Denied),
        Permissions::Ask if !is_shut_in && is_command(call) => Decision::Ask,
        _ if is_whole && stays_inside(folder, call) => Decision::Answer(PermissionAnswer::Allowed),
        Permissions::Worktree => Decision::Answer(PermissionAnswer::Denied),
        Permissions::Ask => Decision::Ask,
    }
}

/// Returns the paths that a request names.
pub(crate) fn find_paths(call: &ToolCallUpdate) -> Vec<&Path> {
    let fields = &call.fields;
    let locations = fields.locations.iter().flatten().map(|location| location.path.as_path());
    let diffs = fields.content.iter().flatten().filter_map(|content| match content {
        ToolCallContent::Diff(diff) => Some(diff.path.as_path()),
        _ => None,
    });
    let inputs = PATH_FIELDS.iter().filter_map(|field| fields.raw_input.as_ref()?.get(field)?.as_str());
    let mut paths: Vec<&Path> = locations.chain(diffs).chain(inputs.map(Path::new)).collect();
    paths.retain(|path| !path.as_os_str().is_empty());
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// The lists of a request in which paths are named, element by element.
#[derive(Debug, Default, Deserialize)]
struct Named {
    locations: Option<Vec<IgnoredAny>>,
    content: Option<Vec<IgnoredAny>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    tool_call: Named,
}

/// Tells whether all places that a request names were read: the crate's types leave out an element that they cannot read,
/// and a request must not be let through because of what it does not seem to say.
pub(crate) fn is_whole(parameters: &RawValue, call: &ToolCallUpdate) -> bool {
    let Ok(Asked { tool_call: named }) = wire::read(parameters) else { return false };
    let is_read = |named: Option<Vec<IgnoredAny>>, read: Option<usize>| {
        named.map_or(0, |named| named.len()) == read.unwrap_or_default()
    };
    is_read(named.locations, call.fields.locations.as_ref().map(Vec::len))
        && is_read(named.content, call.fields.content.as_ref().map(Vec::len))
}

/// Says in one line what an agent asks for.
pub(crate) fn describe(call: &ToolCallUpdate) -> String {
    let fields = &call.fields;
    let title = fields.title.as_deref().unwrap_or_default();
    let command = fields.raw_input.as_ref().map_or("", |input| text(input, "/command"));
    let kind = fields.kind.map(kind_name).unwrap_or_default();
    let what = [title, command, &kind].into_iter().find(|text| !text.is_empty());
    let what = what.unwrap_or("something").lines().next().unwrap_or_default();
    let paths = find_paths(call).into_iter().map(|path| path.display().to_string());
    let paths = paths.filter(|path| !what.contains(path)).collect::<Vec<_>>().join(", ");
    let mut what = if paths.is_empty() { what.to_owned() } else { format!("{what} ({paths})") };
    what.truncate(cut_length(&what, WHAT_BYTES_MAX));
    what
}

/// The options that say yes and no: for once rather than for ever.
#[derive(Debug)]
pub(crate) struct Choices {
    allow: Option<PermissionOptionId>,
    reject: Option<PermissionOptionId>,
}

impl Choices {
    /// Finds them among what the agent offers.
    pub(crate) fn find(options: &[PermissionOption]) -> Choices {
        let of_kind = |kind| {
            let is_fit = |option: &&PermissionOption| {
                option.kind == kind && option.option_id.0.len() <= OPTION_BYTES_MAX
            };
            options.iter().find(is_fit).map(|option| option.option_id.clone())
        };
        Choices {
            allow: of_kind(PermissionOptionKind::AllowOnce)
                .or_else(|| of_kind(PermissionOptionKind::AllowAlways)),
            reject: of_kind(PermissionOptionKind::RejectOnce)
                .or_else(|| of_kind(PermissionOptionKind::RejectAlways)),
        }
    }

    /// Returns the option that says so.
    pub(crate) fn get(&self, answer: PermissionAnswer) -> Option<&PermissionOptionId> {
        match answer {
            PermissionAnswer::Allowed => self.allow.as_ref(),
            PermissionAnswer::Denied => self.reject.as_ref(),
        }
    }
}

fn is_command(call: &ToolCallUpdate) -> bool {
    let input = call.fields.raw_input.as_ref();
    let has = |field: &&str| input.and_then(|input| input.get(field)).is_some_and(|value| !value.is_null());
    call.fields.kind == Some(ToolKind::Execute) || COMMAND_FIELDS.iter().any(has)
}

/// A command is held by the sandbox and not by what it names; what goes to the network leaves the folder.
fn stays_inside(folder: &Folder, call: &ToolCallUpdate) -> bool {
    let paths = find_paths(call);
    call.fields.kind != Some(ToolKind::Fetch)
        && paths.len() <= PATHS_MAX
        && paths.iter().all(|path| folder.holds(path))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn decide_on(policy: Permissions, folder: &Folder, call: &Value) -> Decision {
        let mut call = call.clone();
        call["toolCallId"] = json!("c");
        let parameters = RawValue::from_string(json!({ "toolCall": call }).to_string()).unwrap();
        let call = serde_json::from_value(call).unwrap();
        decide(policy, true, folder, &call, is_whole(&parameters, &call))
    }

    #[test]
    fn without_a_sandbox_a_person_is_asked_about_every_command() {
        let inside = tempfile::tempdir().unwrap();
        let folder = Folder::new(inside.path()).unwrap();
        let decide_on = |policy, is_shut_in, call: Value| {
            let mut call = call;
            call["toolCallId"] = json!("c");
            decide(policy, is_shut_in, &folder, &serde_json::from_value(call).unwrap(), true)
        };
        let command = json!({ "kind": "execute", "rawInput": { "command": "ls" } });
        let unnamed = json!({ "title": "ls", "rawInput": { "command": ["ls"] } });
        let edit = json!({ "kind": "edit", "locations": [{ "path": "new.txt" }] });
        let allowed = Decision::Answer(PermissionAnswer::Allowed);
        for call in [command, unnamed] {
            assert_eq!(decide_on(Permissions::Ask, false, call.clone()), Decision::Ask, "{call}");
            assert_eq!(decide_on(Permissions::Ask, true, call.clone()), allowed);
            assert_eq!(decide_on(Permissions::Worktree, false, call), allowed);
        }
        assert_eq!(decide_on(Permissions::Ask, false, edit), allowed);
    }

    #[test]
    fn what_stays_inside_is_allowed() {
        let outside = tempfile::tempdir().unwrap();
        let inside = outside.path().join("inside");
        std::fs::create_dir_all(inside.join("src")).unwrap();
        std::os::unix::fs::symlink(outside.path(), inside.join("out")).unwrap();
        let folder = Folder::new(&inside).unwrap();
        let new = inside.join("src/new.txt");
        let allowed = [
            json!({ "kind": "edit", "locations": [{ "path": new }] }),
            json!({ "kind": "edit", "content": [{ "type": "diff", "path": "src/new.txt", "newText": "" }] }),
            json!({ "kind": "execute", "rawInput": { "command": "rm -rf /", "cwd": inside } }),
            json!({ "kind": "other", "title": "regatta: read_task" }),
            json!({ "rawInput": { "path": "not/there/yet" } }),
        ];
        for call in &allowed {
            assert_eq!(
                decide_on(Permissions::Worktree, &folder, call),
                Decision::Answer(PermissionAnswer::Allowed)
            );
            assert_eq!(
                decide_on(Permissions::Ask, &folder, call),
                Decision::Answer(PermissionAnswer::Allowed)
            );
            assert_eq!(
                decide_on(Permissions::Deny, &folder, call),
                Decision::Answer(PermissionAnswer::Denied)
            );
        }
        let refused = [
            json!({ "kind": "edit", "locations": [{ "path": new }, { "path": "/etc/passwd" }] }),
            json!({ "kind": "read", "rawInput": { "file_path": "../secret" } }),
            json!({ "kind": "edit", "content": [{ "type": "diff", "path": "out/file", "newText": "" }] }),
            json!({ "kind": "edit", "rawInput": { "path": "src/../../x" } }),
            json!({ "kind": "execute", "rawInput": { "command": "ls", "cwd": "/" } }),
            json!({ "kind": "fetch", "title": "https://example.org" }),
            // What does not read may name anything.
            json!({ "kind": "edit", "content": [{ "type": "diff", "path": "/etc/passwd" }] }),
            json!({ "kind": "edit", "locations": [{ "path": new }, { "path": ["/etc/passwd"] }] }),
            json!({ "kind": "edit", "locations": { "path": "/etc/passwd" } }),
        ];
        for call in &refused {
            assert_eq!(
                decide_on(Permissions::Worktree, &folder, call),
                Decision::Answer(PermissionAnswer::Denied)
            );
            assert_eq!(decide_on(Permissions::Ask, &folder, call), Decision::Ask, "{call}");
        }
    }

    #[test]
    fn options_are_found_by_their_kind() {
        let option = |id: &str, kind| PermissionOption::new(id.to_owned(), "", kind);
        let options = [
            option("1", PermissionOptionKind::AllowAlways),
            option("2", PermissionOptionKind::RejectOnce),
            option("3", PermissionOptionKind::AllowOnce),
            option(&"4".repeat(OPTION_BYTES_MAX + 1), PermissionOptionKind::RejectAlways),
        ];
        let found = |options: &[PermissionOption], answer| {
            Choices::find(options).get(answer).map(ToString::to_string)
        };
        assert_eq!(found(&options, PermissionAnswer::Allowed).as_deref(), Some("3"));
        assert_eq!(found(&options[..2], PermissionAnswer::Allowed).as_deref(), Some("1"));
        assert_eq!(found(&options, PermissionAnswer::Denied).as_deref(), Some("2"));
        assert_eq!(found(&options[2..], PermissionAnswer::Denied), None);
    }
}
