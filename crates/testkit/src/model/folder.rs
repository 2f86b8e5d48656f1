//! Finds the folder that a program works in from what it tells the model, because some tools want whole paths.

/// What stands before the folder in the instructions of one program or another.
const MARKERS: &[&str] = &[
    "<cwd>",
    "rimary working directory:",
    "orking directory:",
    "orking directory is:",
    "urrent directory:",
    "working in the directory:",
    "cwd:",
    "orkspace Directories:",
    "orkspace directories:",
];

/// Returns the folder, if the text names one.
pub(crate) fn find_folder(text: &str) -> Option<&str> {
    MARKERS.iter().find_map(|marker| {
        text.rmatch_indices(marker).find_map(|(offset, _)| path_at(&text[offset + marker.len()..]))
    })
}

/// Returns a path from the root of the file system, made so with the folder if there is one.
pub(crate) fn absolute(path: &str, folder: Option<&str>) -> String {
    match folder {
        Some(folder) if !path.starts_with('/') => format!("{folder}/{path}"),
        _ => path.to_owned(),
    }
}

fn path_at(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || "`-*\"'".contains(c));
    let end = text.find(|c: char| c.is_whitespace() || "`<\"'".contains(c)).unwrap_or(text.len());
    let path = text[..end].trim_end_matches(['/', '.', ',']);
    path.starts_with('/').then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_found_as_each_program_says_it() {
        assert_eq!(find_folder("<env>\n<cwd>/a/b</cwd>"), Some("/a/b"));
        assert_eq!(find_folder(" - Primary working directory: /a/b\n - Git: no"), Some("/a/b"));
        assert_eq!(find_folder("Working directory: `/a/b/`."), Some("/a/b"));
        assert_eq!(find_folder("- **Workspace Directories:**\n  - /a/b\n"), Some("/a/b"));
        assert_eq!(find_folder("I'm currently working in the directory: /a/b\nHere"), Some("/a/b"));
        assert_eq!(find_folder("Working directory: unknown"), None);
    }

    #[test]
    fn only_relative_paths_are_completed() {
        assert_eq!(absolute("x/y", Some("/a")), "/a/x/y");
        assert_eq!(absolute("/x", Some("/a")), "/x");
        assert_eq!(absolute("x", None), "x");
    }
}
