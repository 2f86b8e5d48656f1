//! Decides what an agent is answered when it asks for leave, and finds the option that says so.
//!
//! Options are told apart by their kind: their ids and names differ between agents. Paths are those that the request
//! names anywhere; whether one is inside of the working folder is looked up on the disk, because of links.

use std::path::Path;

use serde_json::Value;

use crate::folder::Folder;
use crate::headless::event::{list, text};
use crate::output::PermissionAnswer;
use crate::permission::Permissions;

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

/// Most paths of one request that are looked at; one with more is not let through unseen.
const PATHS_MAX: usize = 200;

/// What is to be done about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It is answered by the policy.
    Answer(PermissionAnswer),
    /// A person is asked.
    Ask,
}

/// Decides by the policy.
pub(crate) fn decide(policy: Permissions, folder: &Folder, call: &Value) -> Decision {
    match policy {
        Permissions::Deny => Decision::Answer(PermissionAnswer::Denied),
        _ if stays_inside(folder, call) => Decision::Answer(PermissionAnswer::Allowed),
        Permissions::Worktree => Decision::Answer(PermissionAnswer::Denied),
        Permissions::Ask => Decision::Ask,
    }
}

/// Returns the paths that a request names.
pub(crate) fn find_paths(call: &Value) -> Vec<&str> {
    let locations = list(call, "/locations").iter().map(|location| text(location, "/path"));
    let diffs = list(call, "/content").iter().map(|content| text(content, "/path"));
    let input = &call["rawInput"];
    let fields = PATH_FIELDS.iter().filter_map(|field| input.get(field)?.as_str());
    let mut paths: Vec<&str> = locations.chain(diffs).chain(fields).filter(|path| !path.is_empty()).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// Returns the id of the option that says so: for once rather than for ever.
pub(crate) fn find_option(options: &[Value], answer: PermissionAnswer) -> Option<&str> {
    let kinds = match answer {
        PermissionAnswer::Allowed => ["allow_once", "allow_always"],
        PermissionAnswer::Denied => ["reject_once", "reject_always"],
    };
    let of_kind = |kind: &str| options.iter().find(|option| option["kind"] == kind);
    kinds.into_iter().find_map(of_kind).map(|option| text(option, "/optionId"))
}

/// A command is held by the sandbox and not by what it names; what goes to the network leaves the folder.
fn stays_inside(folder: &Folder, call: &Value) -> bool {
    let paths = find_paths(call);
    call["kind"] != "fetch"
        && paths.len() <= PATHS_MAX
        && paths.iter().all(|path| folder.holds(Path::new(path)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
            json!({ "kind": "edit", "content": [{ "type": "diff", "path": "src/new.txt" }] }),
            json!({ "kind": "execute", "rawInput": { "command": "rm -rf /", "cwd": inside } }),
            json!({ "kind": "other", "title": "regatta: read_task" }),
            json!({ "rawInput": { "path": "not/there/yet" } }),
        ];
        for call in &allowed {
            assert_eq!(
                decide(Permissions::Worktree, &folder, call),
                Decision::Answer(PermissionAnswer::Allowed)
            );
            assert_eq!(decide(Permissions::Ask, &folder, call), Decision::Answer(PermissionAnswer::Allowed));
            assert_eq!(decide(Permissions::Deny, &folder, call), Decision::Answer(PermissionAnswer::Denied));
        }
        let refused = [
            json!({ "kind": "edit", "locations": [{ "path": new }, { "path": "/etc/passwd" }] }),
            json!({ "kind": "read", "rawInput": { "file_path": "../secret" } }),
            json!({ "kind": "edit", "content": [{ "type": "diff", "path": "out/file" }] }),
            json!({ "kind": "edit", "rawInput": { "path": "src/../../x" } }),
            json!({ "kind": "execute", "rawInput": { "command": "ls", "cwd": "/" } }),
            json!({ "kind": "fetch", "title": "https://example.org" }),
        ];
        for call in &refused {
            assert_eq!(
                decide(Permissions::Worktree, &folder, call),
                Decision::Answer(PermissionAnswer::Denied)
            );
            assert_eq!(decide(Permissions::Ask, &folder, call), Decision::Ask, "{call}");
        }
    }

    #[test]
    fn options_are_found_by_their_kind() {
        let options = [
            json!({ "optionId": "1", "kind": "allow_always" }),
            json!({ "optionId": "2", "kind": "reject_once" }),
            json!({ "optionId": "3", "kind": "allow_once" }),
        ];
        assert_eq!(find_option(&options, PermissionAnswer::Allowed), Some("3"));
        assert_eq!(find_option(&options[..2], PermissionAnswer::Allowed), Some("1"));
        assert_eq!(find_option(&options, PermissionAnswer::Denied), Some("2"));
        assert_eq!(find_option(&options[..1], PermissionAnswer::Denied), None);
    }
}
