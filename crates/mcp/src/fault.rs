//! Why a verb was not done, in the body that every interface of Regatta sends.

use serde_json::{Map, Value, json};

/// An error as an agent reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// The code, such as `FORBIDDEN`.
    pub code: String,
    /// What failed, and why.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// What a program may want to know.
    pub details: Map<String, Value>,
}

/// One bad field of the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldFault {
    /// The field; empty where the arguments as a whole are meant.
    pub field: &'static str,
    /// What is wrong with it.
    pub problem: String,
}

impl Fault {
    /// Returns it as `{"error": {code, message, hint, details}}`.
    pub fn to_json(&self) -> Value {
        let Fault { code, message, hint, details } = self;
        json!({ "error": { "code": code, "message": message, "hint": hint, "details": details } })
    }
}
