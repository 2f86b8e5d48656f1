//! The shapes of everything an expression can read: the state, `input`, `output` and `feedback`.

use serde_json::{Value, json};

use super::shape::{Field, Shape};
use crate::expression::RESERVED;
use crate::workflow::{NodeKind, Workflow};

/// The shapes of everything that an expression can name.
#[derive(Debug)]
pub(super) struct Ground<'w> {
    workflow: &'w Workflow,
    of_map: Value,
    of_approval: Value,
    of_check: Value,
    of_pass: Value,
    feedback: Value,
}

/// A name that leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stray {
    /// The path up to the name, and with it.
    pub(super) path: Vec<String>,
    /// The names that would have led on.
    pub(super) known: Vec<String>,
    /// Whether the schema rules the field out, rather than saying nothing of it.
    pub(super) is_closed: bool,
}

impl<'w> Ground<'w> {
    pub(super) fn new(workflow: &'w Workflow) -> Ground<'w> {
        let text = json!({ "type": "string" });
        let answer = json!({ "approved": { "type": "boolean" }, "text": text });
        Ground {
            workflow,
            of_map: json!({ "type": "array", "items": {
                "type": "object",
                "properties": { "key": text, "status": { "enum": ["completed", "failed"] }, "result": {} },
                "required": ["key", "status"],
                "additionalProperties": false,
            } }),
            of_approval: object(answer, &["approved", "text"]),
            of_check: object(
                json!({
                    "passed": { "type": "boolean" },
                    "taskId": { "type": "integer" },
                    "results": { "type": "array", "items": {
                        "type": "object",
                        "properties": {
                            "name": text, "passed": { "type": "boolean" }, "exit": { "type": ["integer", "null"] },
                            "milliseconds": { "type": "integer" }, "tail": text,
                        },
                        "required": ["name", "passed"],
                        "additionalProperties": false,
                    } },
                }),
                &["passed", "taskId", "results"],
            ),
            of_pass: json!({ "type": "null" }),
            feedback: json!({ "anyOf": [{ "type": "null" }, {
                "type": "object",
                "properties": { "text": text, "approved": { "type": "boolean" }, "task": text },
                "required": ["text", "approved"],
                "additionalProperties": false,
            }] }),
        }
    }

    /// Returns the shape of the state.
    pub(super) fn state(&self) -> Shape<'_> {
        Shape::new(self.workflow.schema.document())
    }

    /// Returns the shape of what a run is given, if the workflow says.
    pub(super) fn input(&self) -> Option<Shape<'_>> {
        self.workflow.input.as_ref().map(|schema| Shape::new(schema.document()))
    }

    /// Returns the shape of what a person said.
    pub(super) fn feedback(&self) -> Shape<'_> {
        Shape::new(&self.feedback)
    }

    /// Returns the shape of what a node returns, if it is known.
    pub(super) fn output_of(&self, node: usize) -> Option<Shape<'_>> {
        let node = self.workflow.nodes.get(node)?;
        if self.workflow.gaps.is_output_unknown(node) {
            return None;
        }
        match &node.kind {
            NodeKind::Agent { .. } => {
                let prompt = node.kind.prompt_name()?;
                self.workflow.roles.get(&prompt.name).map(|role| Shape::new(role.output.document()))
            }
            NodeKind::Pass => Some(Shape::new(&self.of_pass)),
            NodeKind::Map { .. } => Some(Shape::new(&self.of_map)),
            NodeKind::Approval { .. } => Some(Shape::new(&self.of_approval)),
            NodeKind::Check { .. } => Some(Shape::new(&self.of_check)),
            // It has a field for each of its nodes.
            NodeKind::Parallel { .. } | NodeKind::End { .. } => None,
        }
    }

    /// Follows a path of names as JSONata would, after the node of that number if it is known.
    ///
    /// Where nothing is known of a value, every name leads on.
    pub(super) fn follow(&self, path: &[String], node: Option<usize>) -> Result<(), Stray> {
        let Some((first, rest)) = path.split_first() else { return Ok(()) };
        let from = match first.as_str() {
            "input" => self.input(),
            "output" => node.and_then(|node| self.output_of(node)),
            "feedback" => Some(self.feedback()),
            _ => return follow_from(vec![self.state()], path, 0),
        };
        match from {
            Some(shape) => follow_from(vec![shape], path, path.len() - rest.len()),
            None => Ok(()),
        }
    }

    /// Returns the shapes behind names of the state; empty if nothing is known.
    pub(super) fn follow_in_state(&self, path: &[String]) -> Vec<Shape<'_>> {
        find_behind(self.state(), path)
    }

    /// Returns the shapes of the items at a path, which JSONata reads through; empty if nothing is known.
    pub(super) fn items_at(&self, path: &[String]) -> Vec<Shape<'_>> {
        let shapes = match path.split_first() {
            Some((first, rest)) if first == "input" => {
                self.input().map(|shape| find_behind(shape, rest)).unwrap_or_default()
            }
            // Which node came before is not known.
            Some((first, _)) if RESERVED.contains(&first.as_str()) => Vec::new(),
            _ => self.follow_in_state(path),
        };
        // A field of a list of lists is read from deeper than an item.
        if shapes.iter().any(|shape| shape.holds_lists()) { Vec::new() } else { shapes }
    }
}

fn find_behind<'s>(from: Shape<'s>, path: &[String]) -> Vec<Shape<'s>> {
    path.iter().fold(vec![from], |shapes, name| {
        let known = |shape: Shape<'s>| match shape.read(name) {
            Field::Known(shapes) => shapes,
            _ => Vec::new(),
        };
        shapes.into_iter().flat_map(known).collect()
    })
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// Follows the names of a path from the one at `done` on; one of the shapes must know the name.
pub(super) fn follow_from(shapes: Vec<Shape<'_>>, path: &[String], done: usize) -> Result<(), Stray> {
    let mut shapes = shapes;
    for (index, name) in path.iter().enumerate().skip(done) {
        let mut known = Vec::new();
        let mut is_closed = true;
        for shape in &shapes {
            match shape.read(name) {
                Field::Known(next) => known.extend(next),
                Field::Open => return Ok(()),
                Field::Undescribed => is_closed = false,
                Field::Closed => {}
            }
        }
        if known.is_empty() {
            let names = shapes.iter().flat_map(|shape| shape.names()).map(str::to_owned).collect();
            return Err(Stray { path: path[..=index].to_vec(), known: names, is_closed });
        }
        shapes = known;
    }
    Ok(())
}
