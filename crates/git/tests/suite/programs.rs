//! Filters and merge drivers run only when they are allowed, and then as they were when they were allowed.

use std::path::PathBuf;

use regatta_git::{MergeOutcome, Repository};
use regatta_testkit::repo::{TestRepo, write_below, write_program};

use crate::merge::request;
use crate::world::{World, committed, signature};

/// A repository whose attributes name a filter `shout` and a merge driver `ours`, defined by `settings`.
async fn with_programs(settings: impl Fn(&str) -> String) -> (World, PathBuf) {
    let disk = TestRepo::new();
    let canary = disk.outside().join("canary");
    let program = disk.outside().join("program");
    write_program(&program, &format!("echo ran >> '{}'; tr a-z A-Z", canary.display()));
    disk.write(".gitattributes", "*.loud filter=shout\n*.ours merge=ours\n");
    disk.write("a.ours", "start\n");
    disk.commit("attributes");
    let text = settings(&program.display().to_string());
    let config = disk.path().join(".git/config");
    let before = std::fs::read_to_string(&config).expect("a config");
    std::fs::write(&config, before + &text).expect("settings");
    (World::around(disk).await, canary)
}

fn both(program: &str) -> String {
    format!(
        "[filter \"shout\"]\n\tclean = {program}\n\trequired\n[merge \"ours\"]\n\tdriver = {program} %A\n"
    )
}

async fn commit_loudly(world: &World, repository: &Repository) -> String {
    let path = world.worktree("one").await;
    write_below(&path, "x.loud", "quiet\n");
    let author = signature();
    repository.status(&path, &[]).await.expect("a status");
    let made = repository.commit_all(&path, &[], &author, &author, "work").await.expect("a commit");
    committed(&path, &made.expect("there is work"), "x.loud")
}

#[tokio::test]
async fn a_filter_that_is_not_allowed_passes_files_through() {
    let (world, canary) = with_programs(both).await;
    assert_eq!(commit_loudly(&world, &world.repository).await, "quiet");
    assert!(!canary.exists());
    let left_out = world.repository.programs_left_out().await.expect("a list");
    assert_eq!(left_out, ["filter.shout", "merge.ours"]);
}

#[tokio::test]
async fn an_allowed_filter_means_what_it_meant() {
    let (world, canary) = with_programs(both).await;
    let repository = world.repository.clone().allowing(&["shout".to_owned()], &[]).await.expect("allowed");
    // A later change of the config has no effect.
    world.disk.git(&["config", "filter.shout.clean", "sed s/quiet/planted/"]);
    assert_eq!(commit_loudly(&world, &repository).await, "QUIET");
    assert!(canary.exists());
    assert_eq!(repository.programs_left_out().await.expect("a list"), ["merge.ours"]);
}

#[tokio::test]
async fn settings_that_are_included_or_of_one_worktree_do_not_run_either() {
    let (world, canary) = with_programs(|_| String::new()).await;
    let included = world.disk.outside().join("included");
    let program = world.disk.outside().join("program").display().to_string();
    std::fs::write(&included, both(&program)).expect("settings");
    world.disk.git(&["config", "include.path", included.to_str().expect("a path")]);
    world.disk.git(&["config", "extensions.worktreeConfig", "true"]);
    let path = world.worktree("two").await;
    write_below(&path, ".gitattributes", "* filter=own\n");
    let own = format!("[filter \"own\"]\n\tclean = {program}\n\tsmudge = {program}\n");
    std::fs::write(world.disk.path().join(".git/worktrees/two/config.worktree"), own).expect("settings");
    let author = signature();
    let made = world.repository.commit_all(&path, &[], &author, &author, "work").await.expect("a commit");
    assert!(made.is_some());
    assert_eq!(commit_loudly(&world, &world.repository).await, "quiet");
    assert!(!canary.exists());
}

#[tokio::test]
async fn a_merge_driver_that_is_not_allowed_leaves_a_conflict() {
    let (world, canary) = with_programs(both).await;
    let head = world.task_commit("one", &[("a.ours", "theirs\n")]).await;
    world.disk.write("a.ours", "mine\n");
    world.disk.commit("mine");
    let merged = world.repository.merge(&request(&head), &|_| {}).await.expect("a merge");
    assert_eq!(merged, MergeOutcome::Conflict { files: vec!["a.ours".to_owned()] });
    assert!(!canary.exists());
    let allowed = world.repository.clone().allowing(&[], &["ours".to_owned()]).await.expect("allowed");
    let merged = allowed.merge(&request(&head), &|_| {}).await.expect("a merge");
    assert!(matches!(merged, MergeOutcome::Merged { .. }), "{merged:?}");
    assert!(canary.exists());
}
