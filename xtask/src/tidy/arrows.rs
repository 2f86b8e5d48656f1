//! The rule: rooms depend on each other only along the arrows of the architecture.
//!
//! A new arrow is a design change, so it is made here, in the table, by someone who says why. Manifests are read
//! as text: what a `Cargo.toml` says is what is judged, on every platform.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::{Fault, line_of};
use crate::tree::Tree;

/// Each room with the rooms it may use. Nothing points back.
const ARROWS: &[(&str, &[&str])] = &[
    ("cli", &["server", "engine", "core", "flow", "expr"]),
    ("server", &["board", "engine", "mcp"]),
    ("board", &["engine"]),
    ("bench", &["engine", "store", "core", "flow"]),
    ("engine", &["store", "files", "git", "agents", "mcp", "core", "flow"]),
    ("store", &["core"]),
    ("files", &["core"]),
    ("git", &[]),
    ("agents", &[]),
    ("mcp", &[]),
    ("core", &["flow"]),
    ("flow", &["expr"]),
    ("expr", &[]),
    ("testkit", &[]),
    ("xtask", &["core"]),
    ("fuzz", &["agents", "files"]),
];

/// The room that only tests may use.
const FOR_TESTS: &str = "testkit";

/// The prefix of our packages.
const PREFIX: &str = "regatta-";

/// One dependency of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// The package.
    pub(crate) package: String,
    /// Whether only tests have it.
    pub(crate) is_dev: bool,
    /// The line of the manifest.
    pub(crate) line: usize,
}

/// Finds dependencies between rooms that no arrow allows.
pub(crate) fn check(tree: &Tree) -> Vec<Fault> {
    tree.texts_ending("Cargo.toml").flat_map(|(path, text)| check_manifest(path, text)).collect()
}

fn check_manifest(path: &str, text: &str) -> Vec<Fault> {
    let Some(room) = room_of_manifest(path) else { return Vec::new() };
    let dependencies = match parse_dependencies(text) {
        Ok(dependencies) => dependencies,
        Err(error) => {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            return vec![Fault::at(path, line, format!("the manifest cannot be read: {}", error.message()))];
        }
    };
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == room) else {
        return vec![Fault::of(path, format!("the room `{room}` has no row in the table of arrows"))];
    };
    let judge = |found: &Dependency| Some(Fault::at(path, found.line, judge(room, allowed, found)?));
    dependencies.iter().filter_map(judge).collect()
}

fn judge(room: &str, allowed: &[&str], found: &Dependency) -> Option<String> {
    let used = found.package.strip_prefix(PREFIX)?;
    if used == FOR_TESTS {
        let breach = !found.is_dev;
        return breach.then(|| format!("`{FOR_TESTS}` is only for [dev-dependencies]"));
    }
    // A room's tests may ask for a feature of the room itself.
    let is_own = used == room && found.is_dev;
    (!is_own && !allowed.contains(&used))
        .then(|| format!("`{room}` may not use `{used}`: no arrow leads there"))
}

fn room_of_manifest(path: &str) -> Option<&str> {
    let folder = path.strip_suffix("/Cargo.toml")?;
    Some(folder.strip_prefix("crates/").unwrap_or(folder))
}

/// Returns the dependencies of a manifest: of all kinds and for all platforms.
pub(crate) fn parse_dependencies(text: &str) -> Result<Vec<Dependency>, toml::de::Error> {
    let manifest = DeTable::parse(text)?;
    let mut found = Vec::new();
    collect(text, manifest.get_ref(), &mut found);
    if let Some(DeValue::Table(platforms)) = manifest.get_ref().get("target").map(Spanned::get_ref) {
        for platform in platforms.values() {
            if let DeValue::Table(table) = platform.get_ref() {
                collect(text, table, &mut found);
            }
        }
    }
    Ok(found)
}

fn collect(text: &str, table: &DeTable<'_>, found: &mut Vec<Dependency>) {
    for (kind, is_dev) in [("dependencies", false), ("dev-dependencies", true), ("build-dependencies", false)]
    {
        let Some(DeValue::Table(dependencies)) = table.get(kind).map(Spanned::get_ref) else { continue };
        for (key, value) in dependencies {
            let span: Range<usize> = key.span();
            let package = renamed(value.get_ref()).unwrap_or_else(|| key.get_ref().to_string());
            found.push(Dependency { package, is_dev, line: line_of(text, span.start) });
        }
    }
}

/// Returns the `package` of a dependency that has a name of its own.
fn renamed(value: &DeValue<'_>) -> Option<String> {
    let DeValue::Table(table) = value else { return None };
    match table.get("package")?.get_ref() {
        DeValue::String(package) => Some(package.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fault::render;
    use super::*;

    fn check_one(path: &str, manifest: &str) -> Vec<String> {
        render(&check(&Tree::of(&[(path, manifest)])))
    }

    #[test]
    fn arrows_of_the_table_are_allowed() {
        let manifest = "[dependencies]\nregatta-core.workspace = true\nregatta-store = { path = \"../store\" }\nserde = \"1\"\n\
                        [dev-dependencies]\nregatta-testkit.workspace = true\nregatta-engine = { path = \".\" }\n";
        assert!(check_one("crates/engine/Cargo.toml", manifest).is_empty());
        assert!(check_one("xtask/Cargo.toml", "[dependencies]\nregatta-core.workspace = true\n").is_empty());
    }

    #[test]
    fn an_arrow_that_points_back_is_named_with_its_line() {
        let manifest = "[dependencies]\nserde = \"1\"\nregatta-engine.workspace = true\n";
        assert_eq!(
            check_one("crates/core/Cargo.toml", manifest),
            ["crates/core/Cargo.toml:3: `core` may not use `engine`: no arrow leads there"]
        );
        let cli = "[dependencies]\nregatta-store.workspace = true\n";
        assert_eq!(check_one("crates/cli/Cargo.toml", cli).len(), 1);
    }

    #[test]
    fn tests_platforms_builds_and_other_names_are_no_way_round() {
        for manifest in [
            "[dev-dependencies]\nregatta-store.workspace = true\n",
            "[build-dependencies]\nregatta-store.workspace = true\n",
            "[target.'cfg(unix)'.dependencies]\nregatta-store.workspace = true\n",
            "[dependencies.regatta-store]\nworkspace = true\n",
            "[dependencies]\nlog = { package = \"regatta-store\", path = \"../store\" }\n",
        ] {
            assert_eq!(check_one("crates/git/Cargo.toml", manifest).len(), 1, "{manifest}");
        }
    }

    #[test]
    fn the_testkit_is_for_tests_only() {
        let manifest = "[dependencies]\nregatta-testkit.workspace = true\n";
        assert_eq!(
            check_one("crates/git/Cargo.toml", manifest),
            ["crates/git/Cargo.toml:2: `testkit` is only for [dev-dependencies]"]
        );
    }

    #[test]
    fn a_room_without_a_row_and_a_broken_manifest_are_faults() {
        assert_eq!(
            check_one("crates/wind/Cargo.toml", ""),
            ["crates/wind/Cargo.toml:1: the room `wind` has no row in the table of arrows"]
        );
        assert!(
            check_one("crates/git/Cargo.toml", "\n[dependencies\n")[0]
                .starts_with("crates/git/Cargo.toml:2: ")
        );
        assert!(check_one("Cargo.toml", "[workspace]\n").is_empty());
    }
}
