//! The tools that a program offers, and how `write`, `shell` and `tool` of a script become calls of them.

use serde_json::{Map, Value, json};

use super::folder::absolute;
use super::script::{ToolUse, Write};

/// A tool that a program offers to the model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tool {
    /// Its name.
    pub(crate) name: String,
    /// The JSON Schema of its arguments.
    pub(crate) schema: Value,
    /// Whether it takes free text instead of arguments.
    pub(crate) is_free_text: bool,
    /// The group that it is called with, where the format has groups.
    pub(crate) namespace: Option<String>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    /// The tool.
    pub(crate) name: String,
    /// What it is called with.
    pub(crate) arguments: Arguments,
    /// The group of the tool.
    pub(crate) namespace: Option<String>,
}

/// What a tool is called with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Arguments {
    /// Named values.
    Named(Map<String, Value>),
    /// Free text.
    Text(String),
}

impl Arguments {
    /// Returns them as a JSON value.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Arguments::Named(named) => Value::Object(named.clone()),
            Arguments::Text(text) => Value::String(text.clone()),
        }
    }

    /// Returns them as the text that the services of OpenAI want.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Arguments::Named(named) => Value::Object(named.clone()).to_string(),
            Arguments::Text(text) => text.clone(),
        }
    }
}

/// The names that programs have for a tool that runs a command, best first.
const SHELLS: &[&str] =
    &["Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell", "local_shell"];

/// The names that programs have for a tool that writes a file, best first.
const WRITERS: &[&str] = &["Write", "write", "write_file", "text_editor", "create_file", "apply_patch"];

impl Tool {
    fn knows(&self, argument: &str) -> bool {
        self.property(argument).is_some()
    }

    fn property(&self, argument: &str) -> Option<&Value> {
        self.schema.get("properties")?.get(argument)
    }

    /// Returns the first of the arguments that it knows, or else the first of them.
    fn best(&self, arguments: &[&'static str]) -> &'static str {
        arguments
            .iter()
            .find(|argument| self.knows(argument))
            .or(arguments.first())
            .copied()
            .unwrap_or_default()
    }

    fn call(&self, arguments: Arguments) -> Call {
        Call { name: self.name.clone(), arguments, namespace: self.namespace.clone() }
    }

    fn call_named(&self, arguments: Value) -> Call {
        match arguments {
            Value::Object(named) => self.call(Arguments::Named(named)),
            other => self.call(Arguments::Text(other.to_string())),
        }
    }
}

/// Returns the call that runs a command, if a tool can.
pub(crate) fn shell_call(tools: &[Tool], command: &str, escalates: bool) -> Option<Call> {
    let tool = find(tools, SHELLS, false)?;
    let argument = tool.best(&["command", "cmd"]);
    let is_list = tool.property(argument).is_some_and(|schema| schema["type"] == "array");
    let mut arguments = Map::new();
    let value = if is_list { json!(["bash", "-lc", command]) } else { json!(command) };
    arguments.insert(argument.to_owned(), value);
    if tool.knows("description") {
        arguments.insert("description".to_owned(), json!("a command of the script"));
    }
    if escalates && tool.knows("sandbox_permissions") {
        arguments.insert("sandbox_permissions".to_owned(), json!("require_escalated"));
        arguments.insert("justification".to_owned(), json!("the script asks for it"));
    }
    Some(tool.call(Arguments::Named(arguments)))
}

/// Returns the call that writes a file, if a tool can; a shell can, if nothing better is offered.
pub(crate) fn write_call(
    tools: &[Tool],
    write: &Write,
    folder: Option<&str>,
    escalates: bool,
) -> Option<Call> {
    let Some(tool) = find(tools, WRITERS, false) else {
        return shell_call(tools, &heredoc(write), escalates);
    };
    if tool.name.ends_with("apply_patch") {
        return Some(patch_call(tool, write));
    }
    let path = absolute(&write.path, folder);
    if tool.name.ends_with("text_editor") {
        return Some(tool.call_named(json!({"command": "write", "path": path, "file_text": write.content})));
    }
    let mut arguments = Map::new();
    arguments.insert(tool.best(&["path", "file_path", "filePath"]).to_owned(), json!(path));
    arguments.insert(tool.best(&["content", "file_text", "text"]).to_owned(), json!(write.content));
    Some(tool.call(Arguments::Named(arguments)))
}

/// Returns the call of a named tool, whatever the program puts before its name.
pub(crate) fn named_call(tools: &[Tool], wanted: &ToolUse) -> Call {
    match find(tools, &[&wanted.name], true) {
        Some(tool) => tool.call(Arguments::Named(wanted.args.clone())),
        None => {
            let arguments = Arguments::Named(wanted.args.clone());
            Call { name: wanted.name.clone(), arguments, namespace: None }
        }
    }
}

/// Finds the first tool with one of the names; programs put the server's name before tools of MCP servers.
fn find<'a>(tools: &'a [Tool], names: &[&str], is_loose: bool) -> Option<&'a Tool> {
    names.iter().find_map(|name| {
        let exact = tools.iter().find(|tool| tool.name == *name);
        let prefixed = || tools.iter().find(|tool| tool.name.ends_with(&format!("__{name}")));
        let loose = || tools.iter().find(|tool| is_loose && tool.name.ends_with(&format!("_{name}")));
        exact.or_else(prefixed).or_else(loose)
    })
}

fn patch_call(tool: &Tool, write: &Write) -> Call {
    let lines: String = write.content.lines().map(|line| format!("+{line}\n")).collect();
    let patch = format!("*** Begin Patch\n*** Add File: {}\n{lines}*** End Patch", write.path);
    if tool.is_free_text {
        return tool.call(Arguments::Text(patch));
    }
    let arguments = tool.schema.get("properties").and_then(Value::as_object);
    let name = arguments.and_then(|known| known.keys().next()).map_or("input", String::as_str);
    tool.call_named(json!({ name: patch }))
}

fn heredoc(write: &Write) -> String {
    let Write { path, content } = write;
    let newline = if content.ends_with('\n') { "" } else { "\n" };
    format!(
        "mkdir -p \"$(dirname '{path}')\" && cat > '{path}' <<'END_OF_FILE'\n{content}{newline}END_OF_FILE\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, arguments: &[&str]) -> Tool {
        let properties: Map<String, Value> =
            arguments.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        let schema = json!({"type": "object", "properties": properties});
        Tool { name: name.to_owned(), schema, is_free_text: false, namespace: None }
    }

    fn note() -> Write {
        Write { path: "a/b.txt".to_owned(), content: "hi\n".to_owned() }
    }

    #[test]
    fn a_file_is_written_by_the_tool_there_is() {
        let check = |tools: &[Tool]| {
            let call = write_call(tools, &note(), Some("/p"), false).unwrap();
            format!("{} {}", call.name, call.arguments.to_text())
        };
        let shell = tool("Bash", &["command"]);
        assert_eq!(
            check(&[shell.clone(), tool("Write", &["file_path", "content"])]),
            r#"Write {"file_path":"/p/a/b.txt","content":"hi\n"}"#
        );
        assert_eq!(
            check(&[tool("developer__text_editor", &["command"])]),
            r#"developer__text_editor {"command":"write","path":"/p/a/b.txt","file_text":"hi\n"}"#
        );
        let patch = "*** Begin Patch\\n*** Add File: a/b.txt\\n+hi\\n*** End Patch";
        assert_eq!(
            check(&[tool("apply_patch", &["input"])]),
            format!(r#"apply_patch {{"input":"{patch}"}}"#)
        );
        assert!(check(&[shell]).starts_with(r#"Bash {"command":"mkdir -p "#));
        assert!(write_call(&[tool("Read", &[])], &note(), None, false).is_none());
    }

    #[test]
    fn a_command_fits_the_arguments_that_the_tool_knows() {
        let check = |tool: Tool| shell_call(&[tool], "ls", true).unwrap().arguments.to_text();
        assert_eq!(check(tool("Bash", &["command"])), r#"{"command":"ls"}"#);
        assert_eq!(
            check(tool("exec_command", &["cmd", "sandbox_permissions"])),
            r#"{"cmd":"ls","sandbox_permissions":"require_escalated","justification":"the script asks for it"}"#
        );
        let mut list = tool("shell", &[]);
        list.schema = json!({"properties": {"command": {"type": "array"}}});
        assert_eq!(check(list), r#"{"command":["bash","-lc","ls"]}"#);
    }

    #[test]
    fn a_named_tool_is_found_behind_the_prefix_of_its_server() {
        let wanted = ToolUse { name: "tick".to_owned(), args: Map::new() };
        for offered in ["tick", "mcp__board__tick", "board_tick"] {
            assert_eq!(named_call(&[tool(offered, &[])], &wanted).name, offered);
        }
        assert_eq!(named_call(&[tool("other", &[])], &wanted).name, "tick");
    }
}
