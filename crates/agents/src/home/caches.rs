//! The cache of build tools that the sessions of a project share, and that the user's own builds never read.
//!
//! The user's caches would do as well, but what is planted in them runs in the user's next build. So a project has its
//! own, and the tools find it by their variables. It is filled once, when it is made, with a copy of what the project's
//! tools have in the user's caches, as far as that is small; on file systems that can, a copy shares its blocks until one
//! of the two changes. A hard link would not do: it is the same file.

use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// A cache that holds more is left empty, and filled by the tool itself: a copy would take longer than a session waits.
const COPIED_BYTES_MAX: u64 = 512 * 1024 * 1024;
const COPIED_FILES_MAX: usize = 20_000;

/// One tool's cache.
struct Cache {
    /// The variable that names it, and what stands before the path in its value.
    variable: &'static str,
    prefix: &'static str,
    /// Its folder in the project's cache.
    folder: &'static str,
    /// Files at the top of a project that show that it uses the tool; `*.x` is any file that ends so.
    markers: &'static [&'static str],
    /// What is copied: the user's variable for the same cache, its folder below the home, and the parts of it.
    source: Option<(&'static str, &'static str, &'static [&'static str])>,
}

const fn plain(variable: &'static str, folder: &'static str) -> Cache {
    Cache { variable, prefix: "", folder, markers: &[], source: None }
}

const CACHES: [Cache; 18] = [
    Cache {
        variable: "CARGO_HOME",
        prefix: "",
        folder: "cargo",
        markers: &["Cargo.toml"],
        source: Some(("CARGO_HOME", ".cargo", &["registry/index", "registry/cache", "git/db"])),
    },
    Cache {
        variable: "npm_config_cache",
        prefix: "",
        folder: "npm",
        markers: &["package.json"],
        source: Some(("npm_config_cache", ".npm", &["_cacache"])),
    },
    plain("npm_config_store_dir", "pnpm"),
    plain("YARN_CACHE_FOLDER", "yarn"),
    Cache {
        variable: "BUN_INSTALL_CACHE_DIR",
        prefix: "",
        folder: "bun",
        markers: &["bun.lock", "bun.lockb"],
        source: Some(("BUN_INSTALL_CACHE_DIR", ".bun/install/cache", &[""])),
    },
    Cache {
        variable: "GOMODCACHE",
        prefix: "",
        folder: "go-mod",
        markers: &["go.mod", "go.work"],
        source: Some(("GOMODCACHE", "go/pkg/mod", &["cache/download"])),
    },
    plain("GOCACHE", "go-build"),
    Cache {
        variable: "PIP_CACHE_DIR",
        prefix: "",
        folder: "pip",
        markers: &["requirements.txt", "pyproject.toml", "setup.py"],
        source: Some(("PIP_CACHE_DIR", ".cache/pip", &[""])),
    },
    Cache {
        variable: "UV_CACHE_DIR",
        prefix: "",
        folder: "uv",
        markers: &["uv.lock"],
        source: Some(("UV_CACHE_DIR", ".cache/uv", &[""])),
    },
    plain("POETRY_CACHE_DIR", "poetry"),
    Cache {
        variable: "MAVEN_ARGS",
        prefix: "-Dmaven.repo.local=",
        folder: "maven",
        markers: &["pom.xml"],
        source: Some(("", ".m2/repository", &[""])),
    },
    Cache {
        variable: "GRADLE_USER_HOME",
        prefix: "",
        folder: "gradle",
        markers: &["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"],
        source: Some(("GRADLE_USER_HOME", ".gradle", &["caches/modules-2", "wrapper/dists"])),
    },
    Cache {
        variable: "NUGET_PACKAGES",
        prefix: "",
        folder: "nuget",
        markers: &["*.sln", "*.csproj"],
        source: Some(("NUGET_PACKAGES", ".nuget/packages", &[""])),
    },
    Cache {
        variable: "PUB_CACHE",
        prefix: "",
        folder: "pub",
        markers: &["pubspec.yaml"],
        source: Some(("PUB_CACHE", ".pub-cache", &["hosted"])),
    },
    plain("COMPOSER_CACHE_DIR", "composer"),
    plain("DENO_DIR", "deno"),
    plain("BUNDLE_USER_CACHE", "bundle"),
    // What agents download for themselves, such as a search program, would otherwise be gone with each session.
    plain("XDG_CACHE_HOME", "other"),
];

/// Makes the cache of a project, if it has none, and fills it from the user's.
///
/// It is filled under another name and put in place whole: once a session can write to it, nothing of ours does.
pub fn open_caches(place: &Path, project: &Path, user: Option<&Path>) -> io::Result<()> {
    if place.is_dir() {
        return Ok(());
    }
    // Sessions start at the same time, and engines of other processes too.
    let parent = place.parent().unwrap_or(place);
    DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    let lock = File::create(place.with_extension("lock"))?;
    flock(&lock, FlockOperation::LockExclusive)?;
    if place.is_dir() { Ok(()) } else { make(place, project, user, &|name| std::env::var_os(name)) }
}

type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

fn make(place: &Path, project: &Path, user: Option<&Path>, variables: Variables<'_>) -> io::Result<()> {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let new = place.with_file_name(format!("{name}.new"));
    let _ = std::fs::remove_dir_all(&new);
    DirBuilder::new().recursive(true).mode(0o700).create(&new)?;
    for cache in &CACHES {
        DirBuilder::new().mode(0o700).create(new.join(cache.folder))?;
        if let (Some(user), Some(source)) = (user, &cache.source)
            && cache.markers.iter().any(|marker| has(project, marker))
        {
            fill(&new.join(cache.folder), source, user, variables);
        }
    }
    std::fs::rename(&new, place)
}

/// Returns the variables by which tools find a cache that is seen at a path.
pub(crate) fn environment(seen_at: &Path) -> Vec<(String, String)> {
    let value = |cache: &Cache| format!("{}{}", cache.prefix, seen_at.join(cache.folder).display());
    CACHES.iter().map(|cache| (cache.variable.to_owned(), value(cache))).collect()
}

fn has(project: &Path, marker: &str) -> bool {
    let Some(ending) = marker.strip_prefix('*') else { return project.join(marker).is_file() };
    let entries = std::fs::read_dir(project).into_iter().flatten().flatten();
    entries.take(COPIED_FILES_MAX).any(|entry| entry.file_name().to_string_lossy().ends_with(ending))
}

/// Copies what there is, unless it is too much. A copy that fails leaves a cache that is not full, and does no harm.
fn fill(
    cache: &Path,
    (variable, folder, parts): &(&str, &str, &[&str]),
    user: &Path,
    variables: Variables<'_>,
) {
    let moved = variables(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let source = moved.unwrap_or_else(|| user.join(folder));
    let mut found = Found::default();
    for part in *parts {
        let (from, to) = match part.is_empty() {
            true => (source.clone(), cache.to_owned()),
            false => (source.join(part), cache.join(part)),
        };
        if found.walk(&from, &to).is_none() {
            return;
        }
    }
    for folder in &found.folders {
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    }
    for (from, to) in &found.files {
        if std::fs::copy(from, to).is_err() {
            return;
        }
    }
}

/// What is to be copied, and how much it is.
#[derive(Default)]
struct Found {
    folders: Vec<PathBuf>,
    files: Vec<(PathBuf, PathBuf)>,
    bytes: u64,
}

impl Found {
    /// Lists files and folders, without symlinks; nothing when it is too much.
    fn walk(&mut self, from: &Path, to: &Path) -> Option<()> {
        let Ok(entries) = std::fs::read_dir(from) else { return Some(()) };
        self.folders.push(to.to_owned());
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let (from, to) = (entry.path(), to.join(entry.file_name()));
            if kind.is_dir() {
                self.walk(&from, &to)?;
            } else if kind.is_file() {
                self.bytes += entry.metadata().map_or(0, |found| found.len());
                self.files.push((from, to));
            }
            if self.bytes > COPIED_BYTES_MAX || self.files.len() + self.folders.len() > COPIED_FILES_MAX {
                return None;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    #[test]
    fn a_cache_is_a_copy_of_what_the_project_uses() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in [
            "user/.cargo/registry/cache/x/a.crate",
            "user/.cargo/credentials.toml",
            "user/.m2/repository/a.jar",
            "project/Cargo.toml",
        ] {
            std::fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            std::fs::write(at(path), "user").unwrap();
        }
        symlink("/etc", at("user/.cargo/registry/cache/link")).unwrap();
        make(&at("cache"), &at("project"), Some(&at("user")), &|_| None).unwrap();
        let copy = at("cache/cargo/registry/cache/x/a.crate");
        assert_eq!(std::fs::read_to_string(&copy).unwrap(), "user");
        assert_eq!(copy.metadata().unwrap().nlink(), 1, "never a hard link");
        assert!(
            !at("cache/cargo/credentials.toml").exists() && !at("cache/cargo/registry/cache/link").exists()
        );
        assert!(
            at("cache/maven").is_dir() && !at("cache/maven/a.jar").exists(),
            "the project has no pom.xml"
        );
        std::fs::write(&copy, "agent").unwrap();
        open_caches(&at("cache"), &at("project"), Some(&at("user"))).unwrap();
        assert_eq!(std::fs::read_to_string(&copy).unwrap(), "agent", "it is filled once");
        assert_eq!(std::fs::read_to_string(at("user/.cargo/registry/cache/x/a.crate")).unwrap(), "user");
        let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.count(), 3, "nothing is left beside it");
        open_caches(&at("second/cache"), &at("project"), None).unwrap();
        assert!(at("second/cache/cargo").is_dir());
    }

    #[test]
    fn tools_find_it_by_their_variables() {
        let environment = environment(Path::new("/h/.cache/regatta"));
        let of = |name: &str| environment.iter().find(|(known, _)| known == name).unwrap().1.clone();
        assert_eq!(of("CARGO_HOME"), "/h/.cache/regatta/cargo");
        assert_eq!(of("MAVEN_ARGS"), "-Dmaven.repo.local=/h/.cache/regatta/maven");
    }
}
