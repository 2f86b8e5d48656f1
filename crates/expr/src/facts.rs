//! What can be said of an expression before it runs: what it reads, and what it compares.
//!
//! Facts are upper bounds, found in the tree without evaluating. A checker of workflows uses them to find unknown
//! names and edges that can never hold; nothing here knows of either.

use jlens_core::ast::BinaryOp;
use jlens_core::reads::Read;
use jlens_core::{Ast, Node, NodeKind};
use serde::Serialize;

use crate::hazards::visit;

/// What an expression may read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reads {
    /// Paths of field names from the top of the input, each as far as the names are known. Items of an array share
    /// the path of the array. A path ends where the value is needed whole, or only looked at.
    pub paths: Vec<Vec<String>>,
    /// Those of the paths whose value is needed whole, with all that is in it; not those that are only looked at, as
    /// `$count` and `$exists` do.
    pub whole_paths: Vec<Vec<String>>,
    /// Variables that the expression expects from outside, without the `$`.
    pub variables: Vec<String>,
    /// Paths into those variables: the name of one without the `$`, then field names as in `paths`.
    pub variable_paths: Vec<Vec<String>>,
    /// Whether it may read all of its input, as `$`, `**` and `$eval` do; `paths` then says nothing.
    pub whole_input: bool,
    /// Whether it may read any variable, as `$eval` can.
    pub any_variable: bool,
}

/// A comparison in an expression's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// Its operator: `=`, `!=`, `<`, `<=`, `>`, `>=` or `in`.
    pub operator: &'static str,
    /// The text of the left side.
    pub left: String,
    /// The text of the right side.
    pub right: String,
}

/// Returns the names of the functions that every expression can call, without the `$`.
pub fn function_names() -> Vec<&'static str> {
    jlens_core::function_catalog().iter().map(|function| function.name).collect()
}

/// Returns the operator's text if it compares.
pub(crate) fn comparison_operator(node: &Node) -> Option<&'static str> {
    match &node.kind {
        NodeKind::Binary { op, .. } => match op {
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge
            | BinaryOp::In => Some(op.symbol()),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the comparison that a node is, if it is one.
pub(crate) fn read_comparison(ast: &Ast, node: &Node) -> Option<Comparison> {
    let text_of = |node: &Node| ast.source.get(node.span.start..node.span.end).unwrap_or_default().to_owned();
    let operator = comparison_operator(node)?;
    let NodeKind::Binary { lhs, rhs, .. } = &node.kind else { return None };
    Some(Comparison { operator, left: text_of(lhs), right: text_of(rhs) })
}

pub(crate) fn find_reads(expression: &jlens_core::Expression) -> Reads {
    let found = expression.reads();
    let mut reads = Reads {
        variables: found.bindings().keys().cloned().collect(),
        any_variable: found.every_binding(),
        whole_input: found.input().is_some_and(Read::is_whole),
        ..Reads::default()
    };
    let (mut whole, mut of_variables) = (Vec::new(), Vec::new());
    if let Some(read) = found.input() {
        collect_paths(read, &mut Vec::new(), &mut reads.paths, &mut whole);
    }
    reads.whole_paths = std::mem::take(&mut whole);
    for (name, read) in found.bindings() {
        collect_paths(read, &mut vec![name.clone()], &mut of_variables, &mut whole);
    }
    reads.variable_paths = of_variables;
    reads
}

/// Whether nothing outside the text can change the result: no input, no variable, no time and no chance.
pub(crate) fn is_constant(ast: &Ast, reads: &Reads) -> bool {
    let is_read = reads.whole_input || reads.any_variable || !reads.paths.is_empty();
    !is_read && reads.variables.is_empty() && !is_fickle(ast)
}

/// Whether time or chance may change the result: it names what tells the time or throws dice, or `$eval`.
///
/// `$toMillis` fills what a picture leaves out from the time of day; without a picture it only converts.
pub(crate) fn is_fickle(ast: &Ast) -> bool {
    let mut is_fickle = false;
    let (mut converters, mut plain_calls) = (0, 0);
    visit(&ast.root, |node| match &node.kind {
        NodeKind::Variable { name } => match name.as_str() {
            "now" | "millis" | "random" | "shuffle" | "eval" => is_fickle = true,
            "toMillis" => converters += 1,
            _ => {}
        },
        NodeKind::Function { procedure, args } if args.len() == 1 => {
            let is_converter = |name: &str| name == "toMillis";
            plain_calls +=
                u32::from(matches!(&procedure.kind, NodeKind::Variable { name } if is_converter(name)));
        }
        _ => {}
    });
    is_fickle || converters > plain_calls
}

fn collect_paths(
    read: &Read,
    path: &mut Vec<String>,
    paths: &mut Vec<Vec<String>>,
    whole: &mut Vec<Vec<String>>,
) {
    let fields = read.fields().filter(|fields| !fields.is_empty());
    let Some(fields) = fields else {
        if !path.is_empty() {
            paths.push(path.clone());
            whole.extend(read.is_whole().then(|| path.clone()));
        }
        return;
    };
    for (name, read) in fields {
        path.push(name.clone());
        collect_paths(read, path, paths, whole);
        path.pop();
    }
}
