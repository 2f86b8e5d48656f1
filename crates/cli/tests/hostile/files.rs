//! What an agent does to task files: its own is read as a claim, and those of others are out of its reach.

use crate::support::{Attack, Walls, has_sandbox, walls};
use regatta_testkit::wait::until;

/// Writes to, removes and forges the files of task 1, by every name that the engine would read.
const VANDAL: &str = r##"
    cd "$(dirname "$REGATTA_TASK_FILE")"
    for file in task-1-state.md .task-1.guard .task-1/task-1-state.md .task-2/../task-1-state.md ../task-states/task-1-state.md; do
        mkdir -p "$(dirname "$file")" 2>/dev/null; cat "$file" >> "$OLDPWD/seen.txt" 2>/dev/null
        rm -f "$file" 2>/dev/null; (echo "planted by task 2" >> "$file") 2>/dev/null
    done
    for left in .regatta-task-1-none-x.tmp .regatta-task-1-new-y.tmp .regatta-z.tmp; do
        printf "# Task 1: planted\n" > "$left"
    done
    ln -s ../../README.md .regatta-task-2-none-x.tmp
    sed -i "s/- \[ \] it works/- [x] it works/" "$REGATTA_TASK_FILE"
    cd "$OLDPWD"; echo work > work.txt; true
"##;

#[test]
fn only_its_own_task_file_can_be_changed() {
    if !has_sandbox() {
        return;
    }
    let attack = Attack::new(Walls::Sandbox, VANDAL, "");
    let project = &attack.project;
    project.json(&["task", "add", "its own", "--criterion", "it works"]);
    let folder = project.path().join(".regatta/task-states");
    let read = |name: &str| std::fs::read(folder.join(name)).expect("a file");
    let others = || (read("task-1-state.md"), attack.task());
    let before = others();
    let readme = std::fs::read(project.path().join("README.md")).expect("a file");
    let said = project.run(&["task", "assign", "2", "--agent", "hostile"]);
    let own = project.json(&["task", "show", "2"]);
    assert_eq!(own["column"], "waiting_approval", "{said:?}");
    assert_eq!(others(), before, "the other task and its file are as they were");
    assert_eq!(std::fs::read(project.path().join("README.md")).expect("a file"), readme);
    assert_eq!(own["criteria"][0]["checked"], true, "{own}");
    assert!(String::from_utf8_lossy(&read("task-2-state.md")).contains("- [x] it works"));
    assert!(!folder.join("task-2-state.md").is_symlink() && !folder.join(".task-2").exists(), "it is back");
    let worktree = std::path::PathBuf::from(own["worktree"].as_str().expect("a worktree"));
    let seen = std::fs::read_to_string(worktree.join("seen.txt")).expect("a file");
    assert!(!seen.contains("a task"), "it saw the other's file: {seen}");
    assert_eq!(project.run(&["task", "cancel", "2"]).code, Some(0));
    attack.assert_unharmed();
}

/// Ticks one criterion, and works once somebody has ticked the other.
const WAITING: &str = r##"
    sed -i "s/- \[ \] first/- [x] first/" "$REGATTA_TASK_FILE"
    for try in $(seq 600); do
        grep -q "x. second" "$REGATTA_TASK_FILE" && echo work > work.txt && break
        sleep 0.1
    done
"##;

#[test]
fn a_person_and_an_agent_in_a_sandbox_write_in_the_same_file() {
    if !has_sandbox() {
        return;
    }
    let attack = Attack::new(Walls::Sandbox, WAITING, "");
    let project = &attack.project;
    project.json(&["task", "add", "for two", "--criterion", "first", "--criterion", "second"]);
    let path = project.path().join(".regatta/task-states/task-2-state.md");
    let read = || std::fs::read_to_string(&path).unwrap_or_default();
    let running = project.start(&["task", "assign", "2", "--agent", "hostile"]);
    until("the agent's tick is seen from outside", || read().contains("- [x] first"));
    // As editors save: another file takes the name.
    let saved = path.with_extension("saved");
    std::fs::write(&saved, read().replace("- [ ] second", "- [x] second")).expect("a file");
    std::fs::rename(&saved, &path).expect("a rename");
    let said = running.wait();
    let task = project.json(&["task", "show", "2"]);
    assert_eq!(task["column"], "waiting_approval", "{said:?}");
    assert_eq!(
        (&task["criteria"][0]["checked"], &task["criteria"][1]["checked"]),
        (&true.into(), &true.into())
    );
    assert!(read().contains("- [x] first") && read().contains("- [x] second") && !path.is_symlink());
    assert_eq!(project.run(&["task", "cancel", "2"]).code, Some(0));
    attack.assert_unharmed();
}

#[test]
fn what_is_no_file_in_the_place_of_the_task_file_is_set_aside() {
    let planted = [
        "mkfifo \"$REGATTA_TASK_FILE\"",
        "mkdir \"$REGATTA_TASK_FILE\"",
        "truncate -s 20G \"$REGATTA_TASK_FILE\"",
        "ln -s \"$REGATTA_PROJECT/README.md\" \"$REGATTA_TASK_FILE\"",
    ];
    for (walls, plant) in walls().into_iter().flat_map(|walls| planted.map(|plant| (walls, plant))) {
        let attack =
            Attack::new(walls, &format!("rm \"$REGATTA_TASK_FILE\"; {plant}; echo work > work.txt"), "");
        let said = attack.run();
        assert_eq!(attack.task()["column"], "waiting_approval", "{plant}: {said:?}");
        assert!(attack.kinds().contains(&"file:corrupt".to_owned()), "{plant}: {:?}", attack.kinds());
        let file = attack.task()["stateFile"].as_str().expect("a path").to_owned();
        assert!(!std::path::Path::new(&file).is_symlink());
        assert!(std::fs::read_to_string(file).is_ok_and(|text| text.contains("a task")), "{plant}");
        attack.assert_unharmed();
    }
}
