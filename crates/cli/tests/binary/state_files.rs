//! State files: what `regatta state validate` understands, and what it says when it cannot.

use crate::support::{PROGRAM, Transcript};
use regatta_testkit::binary::TestProject;

const ODD: &str = "\
# Task #7: Sell apples

## 0. Metadata
```json
{ \"task_id\": 7, \"status\": \"in_progress\", \"colour\": \"red\" }
```

## 1. Context

### Requirements
Sell them.

### Acceptance Criteria
- [x] There are apples (check: stock)
- [ ] Somebody buys one

## 2. Chain Inputs

### From Task #3: Grow apples
> Apples are in the shed.

## 3. Progress Log

### Session 1 - 2026-01-02 10:00
**Did:** Opened the shop
**Issues:** None
**Next:** Sell

## 4. Chain Output

(To be completed)

## Notes

Kept as they are.
";

const BROKEN: &str = "\
# Task #8: Sell pears

## 0. Metadata
```json
{ \"task_id\": 8,
```

## 3. Progress Log

### Session - yesterday
**Did:** Something
";

#[test]
fn what_is_understood() {
    let project = TestProject::without_init(PROGRAM);
    project.repo.write("odd.md", ODD);
    project.repo.write("broken.md", BROKEN);
    std::fs::write(project.path().join("bytes.md"), b"# Task #9: \xff\n").expect("the file can be written");
    let mut transcript = Transcript::new(&project);
    for file in ["odd.md", "broken.md", "bytes.md", "missing.md"] {
        transcript.run(&["state", "validate", file]);
        transcript.run(&["--json", "state", "validate", file]);
    }
    transcript.check("state_validate");
    let kept = std::fs::read_to_string(project.path().join("odd.md")).expect("the file can be read");
    assert_eq!(kept, ODD, "a file that is validated is not changed");
}
