//! The file: how it is made, what is refused, and that a refused one stays as it was.

use std::fs;
use std::path::Path;

use crate::contract::sample::{LIST, append, picture, refusal, store};
use regatta_store::{Error, OpenMode, Seq, SqliteStore};
use rusqlite::Connection;

use super::{beside, open, place};

/// Everything in the folder of a database, by name and content.
fn folder_content(path: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap());
    let mut content: Vec<_> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    content.sort();
    content
}

fn refused(path: &Path) -> Error {
    SqliteStore::open(path, OpenMode::Create).expect_err("the file must be refused")
}

#[tokio::test]
async fn a_new_file_is_private_and_stands_in_new_folders() {
    let (folder, _) = place();
    let path = folder.path().join("one/two/log.db");
    let subject = open(&path);
    store(&subject, append(&[("a", 0)], &[&["a"]])).await;
    #[cfg(unix)]
    for suffix in ["", "-wal"] {
        let mode =
            std::os::unix::fs::PermissionsExt::mode(&beside(&path, suffix).metadata().unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600, "{suffix}");
    }
}

#[test]
fn a_missing_file_is_only_made_when_asked() {
    let (_folder, path) = place();
    let missing = SqliteStore::open(&path, OpenMode::Existing).expect_err("there is no file");
    assert!(matches!(&missing, Error::NotFound { path: named } if *named == path), "{missing:?}");
    assert!(folder_content(&path).is_empty());
    drop(open(&path));
    SqliteStore::open(&path, OpenMode::Existing).unwrap();
}

#[tokio::test]
async fn a_log_is_whole_after_it_is_opened_again() {
    let (_folder, path) = place();
    let subject = open(&path);
    store(&subject, append(&[("a", 0), ("b", 0)], &[&["a", "b"], &["b"]])).await;
    let before = picture(&subject).await;
    drop(subject);
    assert!(!beside(&path, "-wal").exists(), "a handle still has the file open");

    let subject = open(&path);
    assert_eq!(picture(&subject).await, before);
    assert_eq!(store(&subject, append(&[("a", 1)], &[&["a"]])).await, Seq(3));
}

#[tokio::test]
async fn a_newer_schema_is_refused_untouched() {
    let (_folder, path) = place();
    drop(open(&path));
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 7).unwrap();
    let before = folder_content(&path);
    assert_eq!(before.len(), 1, "the header alone must tell");

    for mode in [OpenMode::Create, OpenMode::Existing] {
        let error = SqliteStore::open(&path, mode).expect_err("the schema is too new");
        assert!(matches!(error, Error::SchemaTooNew { found: 7, known: 2, .. }), "{error:?}");
        assert_eq!(
            error.to_string(),
            format!("the database {} has schema 7, this version knows up to 2", path.display())
        );
    }
    assert!(folder_content(&path) == before, "the refused file was changed");
}

#[tokio::test]
async fn a_newer_schema_that_stands_in_the_wal_is_refused() {
    let (_folder, path) = place();
    drop(open(&path));
    // Another process that has migrated and is still there keeps the new version in the WAL alone.
    let newer = Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 7).unwrap();
    assert_eq!(fs::read(&path).unwrap()[60..64], [0, 0, 0, 2]);
    let content = || (fs::read(&path).unwrap(), fs::read(beside(&path, "-wal")).unwrap());
    let before = content();
    let error = refused(&path);
    assert!(matches!(error, Error::SchemaTooNew { found: 7, known: 2, .. }), "{error:?}");
    assert!(content() == before, "the refused file was changed");
}

#[test]
fn a_newer_schema_that_a_killed_process_left_in_the_wal_is_refused_untouched() {
    let (_folder, live) = place();
    drop(open(&live));
    let newer = Connection::open(&live).unwrap();
    newer.pragma_update(None, "user_version", 7).unwrap();
    let (_folder, left) = place();
    for suffix in ["", "-wal"] {
        fs::copy(beside(&live, suffix), beside(&left, suffix)).unwrap();
    }
    let content = || (fs::read(&left).unwrap(), fs::read(beside(&left, "-wal")).unwrap());
    let before = content();
    let error = refused(&left);
    assert!(matches!(error, Error::SchemaTooNew { found: 7, known: 2, .. }), "{error:?}");
    assert!(content() == before, "the refused file was changed");
}

#[tokio::test]
async fn a_path_may_have_any_characters() {
    let (folder, _) = place();
    let path = folder.path().join("odd ?#%41 é's").join("log&mode=ro.db");
    let subject = open(&path);
    assert_eq!(store(&subject, append(&[("a", 0)], &[&["a"]])).await, Seq(1));
    assert!(path.is_file());
}

#[tokio::test]
async fn a_file_migrated_under_a_running_handle_is_not_written() {
    let (_folder, path) = place();
    let subject = open(&path);
    store(&subject, append(&[("a", 0)], &[&["a"]])).await;
    let newer = Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 7).unwrap();
    let refused = refusal(subject.append(append(&[("a", 1)], &[&["a"]])).await);
    assert!(refused.ends_with("has schema 7, this version knows up to 2"), "{refused}");
    assert_eq!(subject.head().await.unwrap(), Seq(1));
}

#[test]
fn a_file_that_is_not_ours_is_refused_untouched() {
    let foreign = |path: &Path, setup: &str| Connection::open(path).unwrap().execute_batch(setup).unwrap();
    type Make<'a> = &'a dyn Fn(&Path);
    let cases: [(&str, Make<'_>); 5] = [
        ("text", &|path| {
            fs::write(path, "not a database, but long enough to have a header: ".repeat(4)).unwrap()
        }),
        ("a few bytes", &|path| fs::write(path, "SQLite").unwrap()),
        ("marked by another", &|path| foreign(path, "CREATE TABLE t (x); PRAGMA application_id = 77;")),
        ("with a version", &|path| foreign(path, "PRAGMA user_version = 3; CREATE TABLE t (x);")),
        ("with tables", &|path| foreign(path, "CREATE TABLE t (x);")),
    ];
    for (what, make) in cases {
        let (_folder, path) = place();
        make(&path);
        let before = folder_content(&path);
        let error = refused(&path);
        assert!(matches!(&error, Error::NotOurs { path: named } if *named == path), "{what}: {error:?}");
        assert!(folder_content(&path) == before, "{what}: the refused file was changed");
    }
}

#[test]
fn a_folder_in_place_of_the_file_is_an_error_that_names_it() {
    let (_folder, path) = place();
    fs::create_dir(&path).unwrap();
    let error = refused(&path);
    assert_eq!(error.to_string(), format!("the database {} failed to open", path.display()));
    assert!(std::error::Error::source(&error).is_some());
}

#[tokio::test]
async fn a_log_of_the_first_schema_is_taken_over_and_its_lists_are_yet_to_be_built() {
    let (_folder, path) = place();
    let subject = open(&path);
    assert!(subject.build_list(LIST, Seq(0), Vec::new()).await.unwrap());
    store(&subject, append(&[("a", 0)], &[&["a"], &["a"]])).await;
    drop(subject);
    let first = "DROP TABLE lists; DROP TABLE rows; PRAGMA user_version = 1;";
    Connection::open(&path).unwrap().execute_batch(first).unwrap();
    let subject = open(&path);
    assert_eq!(subject.head().await.unwrap(), Seq(2));
    assert_eq!(subject.find_list(LIST).await.unwrap(), None);
    assert!(subject.build_list(LIST, Seq(2), vec![(1, "one".to_owned())]).await.unwrap());
    assert_eq!(store(&subject, append(&[("a", 2)], &[&["a"]])).await, Seq(3));
    subject.verify().await.unwrap();
}
