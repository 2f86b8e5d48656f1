//! Merging: what lands, what does not, and that it lands once.

use std::sync::atomic::{AtomicU32, Ordering};

use regatta_git::{CommitId, Error, MergeOutcome, MergeRequest, MergeStep};
use regatta_testkit::repo::{fingerprint, git_in, write_below};

use crate::world::{World, branch, commit, committed, signature};

pub(crate) const STEPS: [MergeStep; 6] = [
    MergeStep::TreeWritten,
    MergeStep::CommitMade,
    MergeStep::RefLocked,
    MergeStep::SubmodulesMoved,
    MergeStep::CheckoutMoved,
    MergeStep::RefCommitted,
];

/// Merges, and drops the merge as soon as it has passed a step.
pub(crate) async fn merge_killed_after(world: &World, head: &CommitId, step: MergeStep) {
    let (repository, asked) = (world.repository.clone(), request(head));
    let killed = tokio::spawn(async move {
        let observer = move |passed: MergeStep| assert!(passed != step, "killed on purpose");
        repository.merge(&asked, &observer).await.map(drop)
    });
    assert!(killed.await.expect_err("it was killed").is_panic());
}

pub(crate) fn request(head: &CommitId) -> MergeRequest {
    MergeRequest {
        target: branch("main"),
        head: head.clone(),
        base: None,
        message: "Merge task 1\n\nA body.\n".to_owned(),
        author: signature(),
    }
}

fn merge_commits(world: &World) -> String {
    world.disk.git(&["rev-list", "--count", "--min-parents=2", "--all"])
}

#[tokio::test]
async fn a_merge_is_a_commit_with_both_parents_and_the_checkout_follows() {
    let world = World::new().await;
    let before = world.main_head().await;
    let head = world.task_commit("one", &[("new/file", "work\n")]).await;
    let outcome = world.repository.merge(&request(&head), &|_| {}).await.expect("a merge");
    let MergeOutcome::Merged { commit, previous, checkouts } = outcome else { panic!("{outcome:?}") };
    assert_eq!(previous, before);
    assert_eq!(checkouts, [world.disk.path()]);
    assert_eq!(world.main_head().await, commit);
    assert_eq!(world.disk.git(&["log", "-1", "--format=%P"]), format!("{before} {head}"));
    assert_eq!(
        world.disk.git(&["log", "-1", "--format=%an %cn %at %B"]),
        "Agent One Agent One 1750000000 Merge task 1\n\nA body.\n"
    );
    assert_eq!(world.file("new/file"), "work\n");
    assert_eq!(world.disk.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_repeated_merge_finds_the_first_one() {
    let world = World::new().await;
    let one = world.task_commit("one", &[("one", "1")]).await;
    let two = world.task_commit("two", &[("two", "2")]).await;
    let first = world.repository.merge(&request(&one), &|_| {}).await.expect("a merge");
    let MergeOutcome::Merged { commit, checkouts, .. } = first else { panic!("{first:?}") };
    world.repository.merge(&request(&two), &|_| {}).await.expect("a merge");
    let refs = world.refs();
    let again = world.repository.merge(&request(&one), &|_| {}).await.expect("a merge");
    assert_eq!(again, MergeOutcome::AlreadyMerged { commit, checkouts });
    assert_eq!(world.refs(), refs);
}

#[tokio::test]
async fn what_the_user_merged_another_way_is_already_merged() {
    let world = World::new().await;
    let head = world.task_commit("one", &[("one", "1")]).await;
    world.disk.git(&["merge", "--quiet", "--ff-only", "task/one"]);
    let outcome = world.repository.merge(&request(&head), &|_| {}).await.expect("a merge");
    assert!(matches!(outcome, MergeOutcome::AlreadyMerged { commit, .. } if commit == head));
}

#[tokio::test]
async fn a_conflict_names_its_files_and_changes_nothing() {
    let world = World::new().await;
    let odd = "odd \"name\"\nwith a break";
    world.disk.write(odd, "base\n");
    world.disk.write("kept", "base\n");
    world.disk.commit("base");
    let head =
        world.task_commit("one", &[(odd, "mine\n"), ("README.md", "mine\n"), ("kept", "mine\n")]).await;
    world.disk.write(odd, "theirs\n");
    world.disk.write("README.md", "theirs\n");
    world.disk.commit("theirs");
    let (refs, files) = (world.refs(), fingerprint(world.disk.path()));
    for _ in 0..2 {
        let outcome = world.repository.merge(&request(&head), &|_| {}).await.expect("an outcome");
        assert_eq!(outcome, MergeOutcome::Conflict { files: vec!["README.md".to_owned(), odd.to_owned()] });
    }
    assert_eq!(world.refs(), refs);
    assert_eq!(fingerprint(world.disk.path()), files);
    assert_eq!(world.disk.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_target_that_does_not_exist_is_named() {
    let world = World::new().await;
    let head = world.main_head().await;
    let missing = MergeRequest { target: branch("release"), ..request(&head) };
    let error = world.repository.merge(&missing, &|_| {}).await.expect_err("no such branch");
    assert!(matches!(error, Error::BranchMissing { branch } if branch.as_str() == "release"));
}

#[tokio::test]
async fn a_merge_killed_after_any_step_lands_exactly_once() {
    for step in STEPS {
        let world = World::new().await;
        let head = world.task_commit("one", &[("new/file", "work\n"), ("README.md", "changed\n")]).await;
        merge_killed_after(&world, &head, step).await;

        let outcome = world.repository.merge(&request(&head), &|_| {}).await.expect("a merge");
        let (MergeOutcome::Merged { commit, checkouts, .. }
        | MergeOutcome::AlreadyMerged { commit, checkouts }) = outcome
        else {
            panic!("{outcome:?}")
        };
        assert_eq!(commit, world.main_head().await, "{step:?}");
        assert_eq!(checkouts, [world.disk.path()], "{step:?}");
        assert_eq!(merge_commits(&world), "1", "{step:?}");
        assert_eq!(world.file("new/file"), "work\n", "{step:?}");
        assert_eq!(world.disk.git(&["status", "--porcelain"]), "", "{step:?}");
    }
}

#[tokio::test]
async fn a_killed_merge_repeated_makes_the_same_commit() {
    let world = World::new().await;
    let head = world.task_commit("one", &[("one", "1")]).await;
    merge_killed_after(&world, &head, MergeStep::CommitMade).await;
    let dangling = world.disk.git(&["fsck", "--no-reflogs", "--dangling", "--no-progress"]);
    let dangling = commit(dangling.strip_prefix("dangling commit ").expect("one dangling commit"));
    world.repository.merge(&request(&head), &|_| {}).await.expect("a merge");
    assert_eq!(world.main_head().await, dangling);
}

#[tokio::test]
async fn a_race_that_was_lost_is_run_again_from_the_new_head() {
    let world = World::new().await;
    let head = world.task_commit("one", &[("one", "1")]).await;
    let races = AtomicU32::new(0);
    let path = world.disk.path().to_path_buf();
    let observer = |step| {
        if step == MergeStep::CommitMade && races.fetch_add(1, Ordering::SeqCst) < 2 {
            git_in(&path, &["commit", "--quiet", "--allow-empty", "--message", "someone else"]);
        }
    };
    let outcome = world.repository.merge(&request(&head), &observer).await.expect("a merge");
    let MergeOutcome::Merged { commit, previous, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(races.load(Ordering::SeqCst), 3);
    assert_eq!(merge_commits(&world), "1");
    assert_eq!(world.disk.git(&["rev-list", "--count", previous.as_str()]), "3");
    assert_eq!(committed(world.disk.path(), &commit, "one"), "1");
}

#[tokio::test]
async fn a_target_that_loses_the_base_just_before_it_is_locked_gets_nothing() {
    let world = World::new().await;
    world.disk.write("more", "more");
    world.disk.commit("more");
    let base = world.main_head().await;
    let head = world.task_commit("one", &[("one", "1")]).await;
    let path = world.disk.path().to_path_buf();
    let observer = |step| {
        if step == MergeStep::CommitMade {
            git_in(&path, &["reset", "--quiet", "--hard", "HEAD~1"]);
        }
    };
    let asked = MergeRequest { base: Some(base), ..request(&head) };
    let outcome = world.repository.merge(&asked, &observer).await.expect("an answer");
    assert_eq!(outcome, MergeOutcome::BaseGone);
    assert_eq!(merge_commits(&world), "0");
    assert_eq!(world.disk.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_branch_that_never_stands_still_is_given_up() {
    let world = World::new().await;
    let head = world.task_commit("one", &[("one", "1")]).await;
    let path = world.disk.path().to_path_buf();
    let observer = |step| {
        if step == MergeStep::CommitMade {
            git_in(&path, &["commit", "--quiet", "--allow-empty", "--message", "someone else"]);
        }
    };
    let error = world.repository.merge(&request(&head), &observer).await.expect_err("it is given up");
    assert!(matches!(error, Error::LostRaces { tries: 8, .. }), "{error:?}");
    assert_eq!(merge_commits(&world), "0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn merges_at_the_same_time_all_land() {
    let world = World::new().await;
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..8 {
        let name = number.to_string();
        let head = world.task_commit(&name, &[(&format!("file-{name}"), &name)]).await;
        let repository = world.repository.clone();
        calls.spawn(async move { repository.merge(&request(&head), &|_| {}).await });
    }
    while let Some(call) = calls.join_next().await {
        let outcome = call.expect("no panic").expect("a merge");
        assert!(matches!(outcome, MergeOutcome::Merged { checkouts, .. } if checkouts.len() == 1));
    }
    assert_eq!(merge_commits(&world), "8");
    assert_eq!(world.file("file-7"), "7");
    assert_eq!(world.disk.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn attributes_of_the_project_choose_how_files_are_merged() {
    let world = World::new().await;
    world.disk.write(".gitattributes", "CHANGES merge=union\n");
    world.disk.write("CHANGES", "start\n");
    world.disk.commit("attributes");
    let head = world.task_commit("one", &[("CHANGES", "start\nmine\n")]).await;
    write_below(world.disk.path(), "CHANGES", "start\ntheirs\n");
    world.disk.commit("theirs");
    let outcome = world.repository.merge(&request(&head), &|_| {}).await.expect("a merge");
    assert!(matches!(outcome, MergeOutcome::Merged { .. }), "{outcome:?}");
    assert_eq!(world.file("CHANGES"), "start\ntheirs\nmine\n");
}
