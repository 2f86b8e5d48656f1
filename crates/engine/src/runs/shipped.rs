//! The workflows inside the binary.

use regatta_flow::Folder;

macro_rules! folder {
    ($name:literal: $($file:literal),* $(,)?) => {
        ($name, &[$(($file, include_str!(concat!("../../../../workflows/", $name, "/", $file)))),*])
    };
}

/// Each workflow with its files.
const SHIPPED: &[(&str, &[(&str, &str)])] = &[
    folder!("speckit":
        "workflow.toml",
        "state.schema.json",
        "input.schema.json",
        "roles/spec.md",
        "roles/spec.output.json",
        "roles/coder.md",
        "roles/coder.output.json",
        "roles/reviewer.md",
        "roles/reviewer.output.json",
    ),
    folder!("cycle":
        "workflow.toml",
        "state.schema.json",
        "input.schema.json",
        "files/cycle.schema.json",
        "files/timeline.md",
        "roles/cd.md",
        "roles/cd.output.json",
        "roles/ep-explore.md",
        "roles/ep-explore.output.json",
        "roles/ep-plan.md",
        "roles/ep-plan.output.json",
        "roles/ra.md",
        "roles/ra.output.json",
        "roles/vas.md",
        "roles/vas.output.json",
        "signals/decide.json",
        "signals/extend.json",
        "signals/raise.json",
    ),
    folder!("team":
        "workflow.toml",
        "state.schema.json",
        "input.schema.json",
        "files/dev_to_qa.schema.json",
        "files/group_status.schema.json",
        "files/orchestrator_state.schema.json",
        "files/pm_state.schema.json",
        "files/qa_to_techlead.schema.json",
        "files/techlead_to_dev.schema.json",
        "roles/pm-check.md",
        "roles/pm-check.output.json",
        "roles/pm-plan.md",
        "roles/pm-plan.output.json",
        "children/group/workflow.toml",
        "children/group/state.schema.json",
        "children/group/input.schema.json",
        "children/group/roles/advise.md",
        "children/group/roles/advise.output.json",
        "children/group/roles/developer.md",
        "children/group/roles/developer.output.json",
        "children/group/roles/pm-simplify.md",
        "children/group/roles/pm-simplify.output.json",
        "children/group/roles/qa_expert.md",
        "children/group/roles/qa_expert.output.json",
        "children/group/roles/review.md",
        "children/group/roles/review.output.json",
    ),
];

/// Returns the names of the workflows in the binary.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|(name, _)| *name)
}

/// Returns a workflow of the binary.
pub(crate) fn find(name: &str) -> Option<Folder> {
    let (_, files) = SHIPPED.iter().find(|(known, _)| *known == name)?;
    Some(files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn every_file_is_in_the_binary() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows");
        let mut on_disk = BTreeSet::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("the folder can be read") {
                let path = entry.expect("the entry can be read").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    on_disk.insert(path.strip_prefix(&root).expect("it is below the root").to_owned());
                }
            }
        }
        let files = |(name, files): &(&str, &[(&str, &str)])| -> Vec<_> {
            files.iter().map(|(file, _)| Path::new(name).join(file)).collect()
        };
        let shipped: BTreeSet<_> = SHIPPED.iter().flat_map(files).collect();
        assert_eq!(shipped, on_disk);
    }
}
