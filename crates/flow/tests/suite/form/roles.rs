//! The files of roles, and what a prompt calls.

use expect_test::expect;

use super::loading::check;

#[test]
fn roles() {
    check(
        &[("roles/worker.md", "Do {{ goal }.\n")],
        expect![[r#"
            roles/worker.md:1:4: error[bad-template]: the prompt cannot be read: unexpected `}`, expected end of variable block
              | {{ goal }.
        "#]],
    );
    check(
        &[("roles/worker.md", "Do\n{% for x in goal %}\n{{ x }}\n")],
        expect![[r#"
        roles/worker.md:3:1: error[bad-template]: the prompt cannot be read: unexpected end of input, expected end of block
          | {{ x }}
    "#]],
    );
    check(
        &[("roles/worker.md", "The gaol:\n{{ range(3) }} {{ goal }} {{ gaol.x }}\n")],
        expect![[r#"
        roles/worker.md:2:30: error[unknown-input]: no node gives the prompt of role `worker` an input called `gaol` (did you mean `goal`?)
          | gaol
    "#]],
    );
    check(
        &[("roles/worker.output.json", "")],
        expect![[r#"
        roles/worker.md:1:1: error[missing-file]: there is no file `roles/worker.output.json`
          | Do {{ goal }}.
    "#]],
    );
    check(
        &[("roles/worker.md", "")],
        expect![[r#"
        roles/worker.output.json:1:1: error[missing-file]: role `worker` has no prompt: there is no file `roles/worker.md`
          | 
    "#]],
    );
    check(
        &[("roles/a b.md", "x\n")],
        expect![[r#"
        roles/a b.md:1:1: error[bad-name]: `a b` is not a valid name for a role
          | x
    "#]],
    );
}

#[test]
fn what_a_prompt_calls() {
    check(
        &[("roles/worker.md", "{% if goal is defined %}{{ goal | upper|tojson }}{% endif %}\n{# a|b #}")],
        expect![[r#"
            small loads
        "#]],
    );
    check(
        &[(
            "roles/worker.md",
            "Do\n{{ goal|nofilter }} {{ 1 if goal is odder }}\n{% filter loud %}a|b{% endfilter %}",
        )],
        expect![[r#"
            roles/worker.md:2:9: error[unknown-filter]: a prompt has no filter called `nofilter`
              | nofilter
            roles/worker.md:2:37: error[unknown-test]: a prompt has no test called `odder`
              | odder
            roles/worker.md:3:4: error[bad-template]: a block of `filter` cannot be used in prompts (compute the value in the `input` of the node)
              | filter loud %}a|b{% endfilter
            roles/worker.md:3:11: error[unknown-filter]: a prompt has no filter called `loud`
              | loud
        "#]],
    );
}
