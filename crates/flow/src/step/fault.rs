//! Why a step could not be made, with the part of the workflow and the expression that stopped it.

use serde_json::Value;

use crate::expression::{Expression, Part};
use crate::patch::PlaceFault;
use crate::role::PromptFault;
use crate::schema::SchemaFault;
use crate::step::excerpt::Excerpt;

/// Why a step could not be made.
#[derive(Debug, thiserror::Error)]
pub enum StepFault {
    /// An expression gave no answer.
    #[error("{part}: `{expression}` could not be evaluated")]
    Evaluation {
        /// Whose expression.
        part: Part,
        /// Its text.
        expression: String,
        /// Why.
        #[source]
        fault: regatta_expr::Fault,
    },
    /// An expression gave something that cannot be used there.
    #[error("{part}: `{expression}` gives {} where {wanted} is needed", Excerpt(found))]
    Unusable {
        /// Whose expression.
        part: Part,
        /// Its text.
        expression: String,
        /// What is needed, such as `a text`.
        wanted: &'static str,
        /// What it gave.
        found: Value,
    },
    /// An expression within the brackets of a place gives neither an index nor a key.
    #[error(
        "{part}: `{expression}` gives {}, which is neither an index nor a key, in `{place}`",
        Excerpt(found)
    )]
    NoKey {
        /// Whose place.
        part: Part,
        /// The place as it is written.
        place: String,
        /// The text of the expression.
        expression: String,
        /// What it gave.
        found: Value,
    },
    /// One node that performs nothing follows another, and so on.
    #[error("more than {most} `pass` nodes follow one another, up to `{node}`")]
    Endless {
        /// The last of them.
        node: String,
        /// How many may.
        most: usize,
    },
    /// A place that is to be set has an expression that is undefined.
    #[error("{part}: `{place}` is not a place: an expression in it is undefined")]
    NoPlace {
        /// Whose place.
        part: Part,
        /// The place as it is written.
        place: String,
    },
    /// A place cannot be set.
    #[error("{part}: a change does not fit the state")]
    Place {
        /// Whose change.
        part: Part,
        /// Why it does not fit.
        #[source]
        source: PlaceFault,
    },
    /// The state would not satisfy its schema.
    #[error("the new state does not satisfy its schema: {}", faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Schema {
        /// What is wrong with it.
        faults: Vec<SchemaFault>,
    },
    /// An item of a `map` node waits for one that is not there.
    #[error("{part}: item `{key}` depends on `{missing}`, and no item has that key")]
    UnknownItem {
        /// The node.
        part: Part,
        /// The text of the expression that names what it waits for.
        expression: String,
        /// The key of the item.
        key: String,
        /// What it waits for.
        missing: String,
    },
    /// Items of a `map` node wait for each other, so that none of them could start.
    #[error("{part}: items depend on each other: {}", tell_circle(circle))]
    ItemsInCircle {
        /// The node.
        part: Part,
        /// The text of the expression that names what they wait for.
        expression: String,
        /// Their keys, from one of them round to the same.
        circle: Vec<String>,
    },
    /// An item of a `map` node is not what its child takes.
    #[error("{part}: item `{key}` is not an input of `{child}`: {}", faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    ChildInput {
        /// The node.
        part: Part,
        /// The key of the item.
        key: String,
        /// The workflow of the child.
        child: String,
        /// What is wrong with it.
        faults: Vec<SchemaFault>,
    },
    /// A prompt could not be made.
    #[error("there is no prompt")]
    Prompt(#[from] PromptFault),
    /// The workflow has no such part, which its check would have found.
    #[error("the workflow has no {kind} `{name}`")]
    Missing {
        /// What it would be: a node, a role.
        kind: &'static str,
        /// Its name.
        name: String,
    },
}

/// More keys than this do not make a circle clearer.
const CIRCLE_KEYS_MAX: usize = 10;

fn tell_circle(circle: &[String]) -> String {
    match circle {
        [first, .., last] if circle.len() > CIRCLE_KEYS_MAX => {
            format!("{first} → {} → … → {last}", circle[1..CIRCLE_KEYS_MAX - 1].join(" → "))
        }
        _ => circle.join(" → "),
    }
}

impl StepFault {
    pub(crate) fn evaluation(expression: &Expression, fault: regatta_expr::Fault) -> StepFault {
        StepFault::Evaluation {
            part: expression.part().clone(),
            expression: expression.text().to_owned(),
            fault,
        }
    }

    pub(crate) fn unusable(expression: &Expression, wanted: &'static str, found: &Value) -> StepFault {
        StepFault::Unusable {
            part: expression.part().clone(),
            expression: expression.text().to_owned(),
            wanted,
            found: found.clone(),
        }
    }

    /// Returns whose expression stopped the step, if one did.
    pub fn part(&self) -> Option<&Part> {
        match self {
            StepFault::Evaluation { part, .. }
            | StepFault::Unusable { part, .. }
            | StepFault::NoKey { part, .. }
            | StepFault::NoPlace { part, .. }
            | StepFault::Place { part, .. }
            | StepFault::UnknownItem { part, .. }
            | StepFault::ItemsInCircle { part, .. }
            | StepFault::ChildInput { part, .. } => Some(part),
            StepFault::Schema { .. }
            | StepFault::Endless { .. }
            | StepFault::Prompt(_)
            | StepFault::Missing { .. } => None,
        }
    }

    /// Returns the text of the expression that stopped the step, if one did.
    pub fn expression(&self) -> Option<&str> {
        match self {
            StepFault::Evaluation { expression, .. }
            | StepFault::Unusable { expression, .. }
            | StepFault::UnknownItem { expression, .. }
            | StepFault::ItemsInCircle { expression, .. }
            | StepFault::NoKey { expression, .. } => Some(expression),
            StepFault::NoPlace { place, .. } => Some(place),
            StepFault::Place { .. }
            | StepFault::Schema { .. }
            | StepFault::Endless { .. }
            | StepFault::ChildInput { .. }
            | StepFault::Prompt(_)
            | StepFault::Missing { .. } => None,
        }
    }
}
