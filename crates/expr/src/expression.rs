//! A compiled expression: made once, shared freely, evaluated often.
//!
//! It holds the engine's tree and nothing of any evaluation. How it is evaluated is in `evaluate.rs`.

use std::fmt;
use std::sync::Arc;

use crate::condition::{self, Condition};
use crate::facts::{self, Comparison, Reads};
use crate::fault::Fault;
use crate::guard::guarded;
use crate::hazards::{Hazards, Names};
use crate::limits::{EXPRESSION_BYTES_MAX, Limit};
use crate::tail_calls::Insertions;

/// A compiled JSONata expression. Cheap to clone, and shared between threads.
#[derive(Clone)]
pub struct Expression {
    inner: Arc<Inner>,
}

struct Inner {
    /// As it was written: what is said of the expression is read off this one.
    written: jlens_core::Expression,
    /// As it is evaluated.
    evaluated: jlens_core::Expression,
    insertions: Insertions,
    hazards: Hazards,
}

impl Expression {
    /// Compiles a text, which may hold at most [`EXPRESSION_BYTES_MAX`] bytes and a thousand levels.
    pub fn compile(text: &str) -> Result<Expression, Fault> {
        if text.len() > EXPRESSION_BYTES_MAX {
            return Err(Fault::Limit {
                which: Limit::ExpressionSize,
                bound: EXPRESSION_BYTES_MAX as u64,
                code: "U1001".to_owned(),
                at: None,
            });
        }
        let compile = |text: &str| {
            guarded(|| jlens_core::Expression::compile(text))?.map_err(|error| Fault::of_compiling(&error))
        };
        let written = compile(text)?;
        let names = Names::of(written.ast());
        let hazards = Hazards::of(written.ast(), &names);
        let insertions = Insertions::find(written.ast(), &names);
        let evaluated = if insertions.is_empty() {
            written.clone()
        } else {
            compile(&insertions.apply(text)).map_err(|fault| fault.moved(|span| insertions.map_back(span)))?
        };
        Ok(Expression { inner: Arc::new(Inner { written, evaluated, insertions, hazards }) })
    }

    /// Returns the text it was compiled from.
    pub fn text(&self) -> &str {
        self.inner.written.source()
    }

    /// Returns what it may read, at most.
    pub fn reads(&self) -> Reads {
        facts::find_reads(&self.inner.written)
    }

    /// Returns the comparisons that hold wherever it is true: those that `and` joins, in the order of the text.
    pub fn required_comparisons(&self) -> Vec<Comparison> {
        condition::find_required(self.inner.written.ast())
    }

    /// Returns what it asks, if it is a condition.
    pub fn condition(&self) -> Condition {
        let ast = self.inner.written.ast();
        condition::read_condition(ast, &Names::of(ast))
    }

    /// Whether time or chance may change its result.
    pub fn is_fickle(&self) -> bool {
        facts::is_fickle(self.inner.written.ast())
    }

    /// Whether its result is the same for every input, set of variables and moment.
    pub fn is_constant(&self) -> bool {
        facts::is_constant(self.inner.written.ast(), &self.reads())
    }

    /// Returns what is evaluated. Its positions are mapped back by [`insertions`](Self::insertions).
    pub(crate) fn evaluated(&self) -> &jlens_core::Expression {
        &self.inner.evaluated
    }

    pub(crate) fn insertions(&self) -> &Insertions {
        &self.inner.insertions
    }

    pub(crate) fn hazards(&self) -> Hazards {
        self.inner.hazards
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expression").field(&self.text()).finish()
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Expression) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Expression {}
