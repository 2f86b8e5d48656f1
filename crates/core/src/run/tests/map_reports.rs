//! What a `map` node learns about its children: twice, too late, while it is held, and while it is stopped.

use super::check;
use super::maps::five_parts;
use expect_test::expect;

#[test]
fn reports_about_children_that_come_twice_or_too_late_change_nothing() {
    check(
        &five_parts(),
        "begin",
        "child a ok 1; start none; start zz; start; again; child a ok 1; again; start a,b; start; child a fail
         late start; child c ok 1; child b ok 1; start; child d ok 1; start; child e ok 1; child e fail; start none",
        expect![[r#"
            > child a ok 1
              = nothing; running, step 1 all: mapping a. b. c. d. e.
            > start none
              = nothing; running, step 1 all: mapping a. b. c. d. e.
            > start zz
              = nothing; running, step 1 all: mapping a. b. c. d. e.
            > start
              run:children_started 1 {"a":2,"b":3}
              = running, step 1 all: mapping a* b* c. d. e., not asked
            > again
              = nothing; running, step 1 all: mapping a* b* c. d. e., not asked
            > child a ok 1
              run:child_ended 1 a completed 1
              ! start_children step 1
              = running, step 1 all: mapping a+ b* c. d. e.
            > again
              = nothing; running, step 1 all: mapping a+ b* c. d. e.
            > start a,b
              = nothing; running, step 1 all: mapping a+ b* c. d. e.
            > start
              run:children_started 1 {"c":4}
              = running, step 1 all: mapping a+ b* c* d. e., not asked
            > child a fail
              = nothing; running, step 1 all: mapping a+ b* c* d. e., not asked
            > late start
              = nothing; running, step 1 all: mapping a+ b* c* d. e., not asked
            > child c ok 1
              run:child_ended 1 c completed 1
              = running, step 1 all: mapping a+ b* c+ d. e., not asked
            > child b ok 1
              run:child_ended 1 b completed 1
              ! start_children step 1
              = running, step 1 all: mapping a+ b+ c+ d. e.
            > start
              run:children_started 1 {"d":5}
              = running, step 1 all: mapping a+ b+ c+ d* e., not asked
            > child d ok 1
              run:child_ended 1 d completed 1
              ! start_children step 1
              = running, step 1 all: mapping a+ b+ c+ d+ e.
            > start
              run:children_started 1 {"e":6}
              = running, step 1 all: mapping a+ b+ c+ d+ e*, not asked
            > child e ok 1
              run:child_ended 1 e completed 1
              run:stepped 1 all -[finish]-> end done
              run:completed ["completed","completed","completed","completed","completed"]
              = completed
            > child e fail
              = nothing; completed
            > start none
              = nothing; completed
        "#]],
    );
}

#[test]
fn children_that_were_not_started_are_asked_for_again() {
    check(
        &five_parts(),
        "begin",
        "start b; start",
        expect![[r#"
        > start b
          run:children_started 1 {"b":3}
          ! start_children step 1
          = running, step 1 all: mapping a. b* c. d. e.
        > start
          run:children_started 1 {"a":2}
          = running, step 1 all: mapping a* b* c. d. e., not asked
    "#]],
    );
}

#[test]
fn a_map_that_is_paused_starts_no_more_and_takes_what_ends() {
    check(
        &five_parts(),
        "begin",
        "pause; start; child a ok 1; resume; start; pause; child b ok 1; child c fail; resume; start; pause
         child d fail; resume; start",
        expect![[r#"
            > pause
              run:paused
              = running, step 1 all: mapping a. b. c. d. e., paused
            > start
              run:children_started 1 {"a":2,"b":3}
              = paused, step 1 all: mapping a* b* c. d. e., not asked, paused
            > child a ok 1
              run:child_ended 1 a completed 1
              = paused, step 1 all: mapping a+ b* c. d. e., not asked, paused
            > resume
              run:resumed
              ! start_children step 1
              = running, step 1 all: mapping a+ b* c. d. e.
            > start
              run:children_started 1 {"c":4}
              = running, step 1 all: mapping a+ b* c* d. e., not asked
            > pause
              run:paused
              = paused, step 1 all: mapping a+ b* c* d. e., not asked, paused
            > child b ok 1
              run:child_ended 1 b completed 1
              = paused, step 1 all: mapping a+ b+ c* d. e., not asked, paused
            > child c fail
              run:child_ended 1 c failed RUN_FAILED
              = paused, step 1 all: mapping a+ b+ c- d. e., not asked, paused
            > resume
              run:resumed
              ! start_children step 1
              = running, step 1 all: mapping a+ b+ c- d. e.
            > start
              run:children_started 1 {"d":5}
              = running, step 1 all: mapping a+ b+ c- d* e., not asked
            > pause
              run:paused
              = paused, step 1 all: mapping a+ b+ c- d* e., not asked, paused
            > child d fail
              run:child_ended 1 d failed RUN_FAILED
              run:child_ended 1 e skipped
              = paused, step 1 all: mapping a+ b+ c- d- e/, not asked, paused
            > resume
              run:resumed
              ! start_children step 1
              = running, step 1 all: mapping a+ b+ c- d- e/
            > start
              run:stepped 1 all -[finish]-> end done
              run:completed ["completed","completed","failed","failed","skipped"]
              = completed
        "#]],
    );
}

#[test]
fn a_map_that_could_not_start_its_children_is_held() {
    check(
        &five_parts(),
        "begin",
        "fail STORE_FAILED; resume; start; child a ok 1; fail STORE_FAILED; child b fail; resume; start",
        expect![[r#"
            > fail STORE_FAILED
              run:held 1 STORE_FAILED
              = paused, step 1 all: mapping a. b. c. d. e., not asked, held by an error
            > resume
              run:resumed
              ! start_children step 1
              = running, step 1 all: mapping a. b. c. d. e.
            > start
              run:children_started 1 {"a":2,"b":3}
              = running, step 1 all: mapping a* b* c. d. e., not asked
            > child a ok 1
              run:child_ended 1 a completed 1
              ! start_children step 1
              = running, step 1 all: mapping a+ b* c. d. e.
            > fail STORE_FAILED
              run:held 1 STORE_FAILED
              = paused, step 1 all: mapping a+ b* c. d. e., not asked, held by an error
            > child b fail
              run:child_ended 1 b failed RUN_FAILED
              run:child_ended 1 d skipped
              run:child_ended 1 e skipped
              = paused, step 1 all: mapping a+ b- c. d/ e/, not asked, held by an error
            > resume
              run:resumed
              ! start_children step 1
              = running, step 1 all: mapping a+ b- c. d/ e/
            > start
              run:children_started 1 {"c":4}
              = running, step 1 all: mapping a+ b- c* d/ e/, not asked
        "#]],
    );
}

#[test]
fn stopping_a_map_stops_its_children_first() {
    check(
        &five_parts(),
        "begin",
        "stop",
        expect![[r#"
        > stop
          run:failed RUN_STOPPED: run 1 was stopped: a person stopped it
          = failed RUN_STOPPED
    "#]],
    );
    check(
        &five_parts(),
        "begin; start",
        "stop; child a ok 1; start; child b fail; stopped; child c ok 1",
        expect![[r#"
            > stop
              run:stopping None
              ! stop_run
              = running, step 1 all: mapping a* b* c. d. e., not asked, stopping
            > child a ok 1
              run:child_ended 1 a completed 1
              = running, step 1 all: mapping a+ b* c. d. e., not asked, stopping
            > start
              = nothing; running, step 1 all: mapping a+ b* c. d. e., not asked, stopping
            > child b fail
              run:child_ended 1 b failed RUN_FAILED
              run:child_ended 1 d skipped
              run:child_ended 1 e skipped
              = running, step 1 all: mapping a+ b- c. d/ e/, not asked, stopping
            > stopped
              run:failed RUN_STOPPED: run 1 was stopped: a person stopped it
              = failed RUN_STOPPED
            > child c ok 1
              = nothing; failed RUN_STOPPED
        "#]],
    );
}
