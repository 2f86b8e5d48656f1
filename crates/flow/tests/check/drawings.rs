//! The drawings of `speckit`, as they are recorded, and what holds of any drawing.

use expect_test::expect_file;
use regatta_flow::{Workflow, render_dot, render_mermaid, render_svg};

use crate::folders::{load, shipped};
use crate::{WORK, folder};

#[test]
fn the_drawings_of_speckit_are_the_recorded_ones() {
    let workflow = load(&shipped("speckit"));
    let level = workflow.default_level();
    expect_file!["drawings/speckit.mmd"].assert_eq(&render_mermaid(&workflow, level));
    expect_file!["drawings/speckit.dot"].assert_eq(&render_dot(&workflow, level));
    expect_file!["drawings/speckit.svg"].assert_eq(&render_svg(&workflow, level));
}

#[test]
fn a_level_is_drawn_with_its_own_nodes_and_edges() {
    let workflow = load(&shipped("speckit"));
    expect_file!["drawings/speckit-level-3.mmd"].assert_eq(&render_mermaid(&workflow, 3));
}

#[test]
fn every_node_and_way_is_drawn_once_at_every_level() {
    let workflow = load(&shipped("speckit"));
    for level in workflow.levels.keys() {
        let (svg, dot) = (render_svg(&workflow, *level), render_dot(&workflow, *level));
        let arrows = dot.matches("\" -> \"").count();
        assert_eq!(svg.matches("class=\"label\"").count() + 1, arrows, "level {level}");
        let boxes = dot.lines().filter(|line| line.contains(" [label=") && !line.contains("->")).count();
        assert_eq!(svg.matches("data-node=").count(), boxes, "level {level}");
    }
}

#[test]
fn a_drawing_is_well_formed() {
    let workflow = load(&shipped("speckit"));
    let svg = render_svg(&workflow, workflow.default_level());
    let mut open: Vec<String> = Vec::new();
    for part in svg.split('<').skip(1) {
        let (tag, _) = part.split_once('>').expect("a tag is closed");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().unwrap_or_default().to_owned());
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn boxes_and_labels_do_not_overlap() {
    let workflow = load(&shipped("speckit"));
    for level in workflow.levels.keys() {
        assert_apart(&render_svg(&workflow, *level));
    }
    for shape in [&LADDER, &WEB] {
        assert_apart(&render_svg(&dense(shape), 1));
    }
}

/// Twelve nodes in a line, each with a way back to every third before it.
const LADDER: fn(usize) -> Vec<usize> = |node| {
    let back = (0..node).filter(move |to| (node - to) % 3 == 0);
    back.chain((node < 11).then_some(node + 1)).collect()
};

/// Twelve nodes with ways ahead and back to half of the others, and to themselves.
const WEB: fn(usize) -> Vec<usize> = |node| (0..12).filter(|to| (node * 5 + to * 3) % 4 < 2).collect();

fn dense(targets: &fn(usize) -> Vec<usize>) -> Workflow {
    let mut text = String::from("nodes.work = { kind = \"agent\", role = \"worker\" }\n");
    (1..12).for_each(|node| {
        text.push_str(&format!("nodes.n{node} = {{ kind = \"agent\", role = \"worker\" }}\n"))
    });
    let name = |node: usize| if node == 0 { "work".to_owned() } else { format!("n{node}") };
    for from in 0..12 {
        for to in targets(from) {
            text.push_str(&format!(
                "[[edges]]\nid = \"edge-{from}-{to}\"\nfrom = \"{}\"\nto = \"{}\"\n",
                name(from),
                name(to)
            ));
        }
    }
    load(&folder(&text, &[]))
}

/// Reads the boxes and labels of a drawing, the width of a label by a usual font, and compares all pairs.
fn assert_apart(svg: &str) {
    let number = |tag: &str, name: &str| -> i32 {
        let rest = tag.split(&format!(" {name}=\"")).nth(1).unwrap_or_else(|| panic!("{name} of {tag}"));
        rest.split('"').next().expect("a value ends").parse().expect("a whole number")
    };
    let mut found: Vec<(String, [i32; 4])> = Vec::new();
    for part in svg.split('<') {
        if part.starts_with("rect class=\"box\"") {
            let (x, y) = (number(part, "x"), number(part, "y"));
            found.push((part.to_owned(), [x, y, x + number(part, "width"), y + number(part, "height")]));
        } else if part.starts_with("text class=\"label\"") {
            let (x, y) = (number(part, "x"), number(part, "y"));
            let characters = part.split_once('>').map_or(0, |(_, text)| text.trim_end().chars().count());
            let width = i32::try_from(characters).expect("a label is short") * 13 / 2;
            let left = if part.contains("text-anchor=\"end\"") { x - width } else { x };
            found.push((part.to_owned(), [left, y - 11, left + width, y + 3]));
        }
    }
    assert!(found.len() > 4);
    for (index, (name, a)) in found.iter().enumerate() {
        for (other, b) in &found[..index] {
            let is_apart = a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
            assert!(is_apart, "{name}\n{other}\n{a:?} {b:?}");
        }
    }
}

#[test]
fn a_workflow_with_faults_is_drawn_as_far_as_it_goes() {
    let text = format!("{WORK}[[edges]]\nid = \"a\"\nfrom = \"work\"\nto = \"nowhere\"\n");
    let workflow = load(&folder(&text, &[]));
    assert!(render_svg(&workflow, 1).contains("data-node=\"work\""));
    assert!(render_dot(&workflow, 1).contains("\"work\""));
}
