//! Whether the content of a file of a run fits: what `regatta state validate` asks, and nothing that changes a run.

use serde_json::Value;

use crate::patch::set;
use crate::path::{PathStep, ResolvedPath};
use crate::schema::{Changed, SchemaFault};
use crate::shown::{Content, StateFile};
use crate::workflow::Workflow;

impl Workflow {
    /// Judges a parsed file of a run by the schema of what it holds. The paths of what is wrong begin at the file; those of
    /// a list with its number.
    pub fn judge_file(&self, file: &StateFile, value: &Value) -> Result<(), Vec<SchemaFault>> {
        match &file.content {
            Content::Value { schema: Some(schema), .. } => schema.check(value),
            Content::Value { schema: None, .. } => Ok(()),
            Content::Place { place, .. } | Content::Append { list: place, .. } => {
                self.judge_place(place, value.clone())
            }
        }
    }

    /// Judges a value as if a run that has just begun had it at this place.
    fn judge_place(&self, place: &ResolvedPath, value: Value) -> Result<(), Vec<SchemaFault>> {
        let mut state = self.schema.initial();
        let before = match set(&mut state, place, value) {
            Ok(before) => before,
            Err(fault) => return Err(vec![SchemaFault { path: String::new(), message: fault.to_string() }]),
        };
        let changed = [Changed { place, added: before.is_none() }];
        let Err(faults) = self.schema.check(&state, &changed) else { return Ok(()) };
        let above = place.to_string();
        let below = |fault: SchemaFault| match fault.path.strip_prefix(&above) {
            Some(path) => SchemaFault { path: path.trim_start_matches('.').to_owned(), ..fault },
            None => fault,
        };
        Err(faults.into_iter().map(below).collect())
    }
}

impl ResolvedPath {
    /// Reads what [`SchemaFault::path`] says; nothing if it is no such path.
    pub fn read(text: &str) -> Option<ResolvedPath> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            rest = match rest.strip_prefix('[') {
                Some(inside) => {
                    let mut values = serde_json::Deserializer::from_str(inside).into_iter::<Value>();
                    match values.next()?.ok()? {
                        Value::Number(index) => {
                            steps.push(PathStep::Index(usize::try_from(index.as_u64()?).ok()?))
                        }
                        Value::String(name) => steps.push(PathStep::Key(name.into())),
                        _ => return None,
                    }
                    inside[values.byte_offset()..].strip_prefix(']')?
                }
                None => {
                    let plain = rest.strip_prefix('.').unwrap_or(rest);
                    let end = plain.find(['.', '[']).unwrap_or(plain.len());
                    steps.push(PathStep::Key(plain[..end].into()));
                    &plain[end..]
                }
            };
        }
        Some(ResolvedPath(steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_as_it_is_written() {
        let key = |name: &str| PathStep::Key(name.into());
        for steps in [
            vec![],
            vec![key("tasks"), PathStep::Index(0), key("status")],
            vec![key("an odd. [name]"), key("x"), key("\"quoted\""), PathStep::Index(12)],
            vec![PathStep::Index(3), key("a")],
        ] {
            let path = ResolvedPath(steps);
            assert_eq!(ResolvedPath::read(&path.to_string()), Some(path));
        }
        assert_eq!(ResolvedPath::read("a[true]"), None);
        assert_eq!(ResolvedPath::read("a[0"), None);
    }
}
