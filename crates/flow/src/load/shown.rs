//! `[view]`, `[files]` and `folder` of `workflow.toml`.

use std::sync::Arc;

use toml::de::DeValue;

use crate::expression::Part;
use crate::fault::Fault;
use crate::import::{ImportRule, ImportTarget, RunField};
use crate::load::Loading;
use crate::load::head::check_variable;
use crate::load::section::{Known, Reader, Section, Text, entries_of, text_of};
use crate::name::is_name;
use crate::path::{PathStep, ResolvedPath};
use crate::place::{Place, Segment};
use crate::role::Role;
use crate::schema::Schema;
use crate::shown::{
    Content, FILES_OF_RUN_MAX, FilePath, Sources, StateFile, Template, VIEWS_MAX, View, is_safe_path,
    part_of_view,
};
use crate::variables::{FactName, Local};
use crate::workflow::Named;

/// The keys of a file.
const FILE_KEYS: &[&str] = &["path", "place", "append", "value", "schema", "body", "template", "import"];

/// What an import adds messages with.
const MESSAGES: &str = "messages[+]";

/// Folders below `.regatta` that hold something else.
const TAKEN_FOLDERS: &[&str] =
    &["archives", "config.toml", "scripts", "sessions", "task-states", "workflows", "worktrees"];

/// Returns the names under `[view]`, also those whose expressions are at fault.
pub(crate) fn view_names(section: &Section<'_>) -> Vec<String> {
    let table = section.entries().into_iter().find(|(key, _)| key.value == "view");
    let Some(DeValue::Table(table)) = table.map(|(_, value)| value.get_ref()) else { return Vec::new() };
    entries_of(table).into_iter().map(|(key, _)| key.value.to_owned()).collect()
}

/// Reads the views. `names` are those of `[bind]`, and behind them those of the views: a view sees the ones above it.
pub(crate) fn read_views<'t>(section: &Section<'t>, names: &'t [String], binds: usize) -> Vec<View> {
    let Some((table, at)) = section.table("view") else { return Vec::new() };
    let entries = entries_of(table);
    if entries.len() > VIEWS_MAX {
        let message = format!("there are {} views, more than {VIEWS_MAX}", entries.len());
        section.reader.add(Fault::error("too-large", &at, message));
    }
    let mut views = Vec::new();
    for (number, (key, value)) in entries.into_iter().take(VIEWS_MAX).enumerate() {
        let at = section.reader.position(key.literal.clone());
        check_variable(section.reader, &key);
        check_clash(section.reader, key.value, &names[..binds], &at);
        let (above, below) = names.split_at(binds + number);
        let known = Known { names: above, below, facts: true, local: None };
        let reader = Reader { known, ..section.reader };
        match text_of(value) {
            Some(text) => {
                let value = reader.expression(&text, &part_of_view(key.value));
                views.push(View { name: key.value.to_owned(), value, reads: Sources::default(), at });
            }
            None => section.not_an_expression(key.value, value),
        }
    }
    views
}

/// A view hides nothing: it has a name of its own.
fn check_clash(reader: Reader<'_>, name: &str, binds: &[String], at: &crate::fault::Position) {
    let is_fact =
        FactName::find(name).is_some() || Local::ALL.into_iter().any(|local| local.as_str() == name);
    if is_fact {
        let message = format!("`{name}` is called like the variable `${name}` of every workflow");
        let fault = Fault::error("name-of-fact", at, message);
        reader.add(fault.with_hint("give the view another name"));
    } else if binds.iter().any(|bind| bind == name) {
        let message = format!("`{name}` is also a name of `[bind]`");
        reader.add(Fault::error("repeated-name", at, message).with_hint("give the view another name"));
    }
}

/// Reads the folder of the files.
pub(crate) fn read_folder(section: &Section<'_>, prefix: &str) -> Option<Named> {
    let text = section.text("folder")?;
    let at = section.reader.position(text.literal.clone());
    let first = text.value.split('/').next().unwrap_or_default();
    if !prefix.is_empty() {
        let fault = Fault::error("misplaced-folder", &at, "a child writes to the folder of its parent");
        section.reader.add(fault.with_hint("remove `folder`"));
    } else if !is_safe_path(text.value) {
        let message = format!("`{}` is no folder below `.regatta`", text.value);
        section
            .reader
            .add(Fault::error("bad-path", &at, message).with_hint("write a name, such as `cycles`"));
    } else if TAKEN_FOLDERS.contains(&first) {
        let message = format!("`.regatta/{first}` is used for something else");
        section.reader.add(Fault::error("bad-path", &at, message).with_hint("choose another name"));
    } else {
        return Some(Named { name: text.value.to_owned(), at });
    }
    None
}

impl Loading<'_> {
    /// Reads the files.
    pub(super) fn read_files(&self, prefix: &str, section: &Section<'_>) -> Vec<StateFile> {
        let Some((table, at)) = section.table("files") else { return Vec::new() };
        let entries = entries_of(table);
        if entries.len() > FILES_OF_RUN_MAX {
            let message = format!("there are {} files, more than {FILES_OF_RUN_MAX}", entries.len());
            section.reader.add(Fault::error("too-large", &at, message));
        }
        let mut files = Vec::new();
        for (key, value) in entries.into_iter().take(FILES_OF_RUN_MAX) {
            let at = section.reader.position(key.literal.clone());
            if !is_name(key.value) {
                let message = format!("`{}` is not a valid name for a file", key.value);
                let hint = "use letters, digits, `_` and `-`, starting with a letter; the path is `path`";
                section.reader.add(Fault::error("bad-name", &at, message).with_hint(hint));
                continue;
            }
            let DeValue::Table(table) = value.get_ref() else {
                let message = format!("file `{}` must be a table", key.value);
                section.reader.add(Fault::error("wrong-type", &at, message));
                continue;
            };
            let (title, part) = (format!("file `{}`", key.value), Part::File(key.value.to_owned()));
            let file = Section::new(section.reader, table, title, part, at.clone(), FILE_KEYS);
            let (path, content) = (read_path(&file), self.read_content(prefix, &file));
            let import = read_import(&file);
            if let (Some(path), Some(content)) = (path, content) {
                let name = key.value.to_owned();
                files.push(StateFile { name, path, content, import, reads: Sources::default(), at });
            }
        }
        files
    }

    fn read_content(&self, prefix: &str, file: &Section<'_>) -> Option<Content> {
        let keys: Vec<_> = file.entries();
        let find = |name: &str| keys.iter().find(|(key, _)| key.value == name).map(|(key, _)| key.clone());
        let kinds: Vec<_> = ["place", "append", "value"].into_iter().filter_map(find).collect();
        let kind = match kinds.as_slice() {
            [kind] => kind.value,
            [] => {
                file.missing("value", "add `place`, `append` or `value`".to_owned());
                return None;
            }
            [first, second, ..] => {
                let message = format!("a file has `{}` or `{}`, not both", first.value, second.value);
                let at = file.reader.position(second.literal.clone());
                file.reader.add(Fault::error("conflicting-keys", &at, message));
                return None;
            }
        };
        let allowed: &[&str] = match kind {
            "place" => &["path", "place", "body", "import"],
            "append" => &["path", "append", "template", "import"],
            _ => FILE_KEYS,
        };
        for (key, _) in keys.iter().filter(|(key, _)| {
            FILE_KEYS.contains(&key.value) && !allowed.contains(&key.value) && key.value != kind
        }) {
            let message = format!("`{}` does not go with `{kind}`", key.value);
            let fault = Fault::error("conflicting-keys", &file.reader.position(key.literal.clone()), message);
            file.reader.add(match key.value {
                "schema" => fault.with_hint("what is there already fits the schema of the state"),
                _ => fault,
            });
        }
        let place = |key: &str| {
            let text = file.text(key)?;
            let at = file.reader.position(text.literal.clone());
            Some((fixed_place(file.reader, &file.reader.place(&text, file.part()), &at)?, at))
        };
        Some(match kind {
            "place" => {
                let (place, at) = place("place")?;
                Content::Place { place, at, body: read_body(file) }
            }
            "append" => {
                let (list, at) = place("append")?;
                Content::Append { list, at, template: self.read_template(prefix, file) }
            }
            _ => {
                let value = file.needed_expression("value");
                let schema = self.read_file_schema(prefix, file);
                let (body, template) = (read_body(file), self.read_template(prefix, file));
                if let (Some(_), Some(key)) = (&body, find("template")) {
                    let at = file.reader.position(key.literal);
                    let message = "a file has `body` or `template`, not both";
                    file.reader.add(Fault::error("conflicting-keys", &at, message));
                }
                Content::Value { value, schema, body, template }
            }
        })
    }

    fn read_file_schema(&self, prefix: &str, file: &Section<'_>) -> Option<Arc<Schema>> {
        let text = file.text("schema")?;
        let at = file.reader.position(text.literal);
        let source = self.needed_file(&format!("{prefix}{}", text.value), &at)?;
        self.compile_schema(&source).map(Arc::new)
    }

    fn read_template(&self, prefix: &str, file: &Section<'_>) -> Option<Template> {
        let text = file.text("template")?;
        let at = file.reader.position(text.literal);
        let name = format!("{prefix}{}", text.value);
        let source = self.needed_file(&name, &at)?;
        self.check_template(&name, &source, ("template", "compute the value in an expression"))
            .then_some(())?;
        Role::compile(&name, source.text, Schema::open(), at).ok().map(Template)
    }
}

fn read_path(file: &Section<'_>) -> Option<FilePath> {
    let text = file.needed_text("path")?;
    FilePath::parse(text.value)
        .map_err(|byte| {
            let at = file.reader.source.position_in_string(
                text.literal.clone(),
                text.value,
                byte..text.value.len(),
            );
            let message = format!("`{}` is no path within the folder", text.value);
            let hint = "write names joined by `/`, none of which begins with `.`; `{name}` stands for a view";
            file.reader.add(Fault::error("bad-path", &at, message).with_hint(hint));
        })
        .ok()
}

fn read_body(file: &Section<'_>) -> Option<Named> {
    let text = file.text("body")?;
    Some(Named { name: text.value.to_owned(), at: file.reader.position(text.literal) })
}

/// Reads what an import takes of a file. Its expressions see the file and nothing else: there is no run yet.
fn read_import(file: &Section<'_>) -> Vec<ImportRule> {
    let Some((table, _)) = file.table("import") else { return Vec::new() };
    if let Some((key, _)) = file.entries().into_iter().find(|(key, _)| key.value == "template") {
        let message = "what a template renders cannot be read back, so there is no `import` of it";
        let at = file.reader.position(key.literal);
        file.reader.add(Fault::error("conflicting-keys", &at, message).with_hint("remove `import`"));
        return Vec::new();
    }
    let known = Known { local: Some(Local::File), ..Known::default() };
    let reader = Reader { known, ..file.reader };
    let mut rules = Vec::new();
    for (key, value) in entries_of(table) {
        let at = reader.position(key.literal.clone());
        let Some(text) = text_of(value) else {
            file.not_an_expression(key.value, value);
            continue;
        };
        let value = reader.expression(&text, file.part());
        rules.extend(read_target(reader, &key, file, &at).map(|target| ImportRule { target, value, at }));
    }
    rules
}

fn read_target(
    reader: Reader<'_>,
    key: &Text<'_>,
    file: &Section<'_>,
    at: &crate::fault::Position,
) -> Option<ImportTarget> {
    if key.value == MESSAGES {
        return Some(ImportTarget::Messages);
    }
    if let Some(name) = key.value.strip_prefix("input.") {
        return Some(ImportTarget::Input(name.to_owned()));
    }
    if let Some(name) = key.value.strip_prefix("run.") {
        let found = RunField::ALL.iter().find(|(known, _)| *known == name);
        if found.is_none() {
            let message = format!("an import cannot set `{}`", key.value);
            let known = RunField::ALL.iter().map(|(name, _)| *name);
            let nearest = crate::nearest::find_nearest(name, known);
            reader.add(Fault::error("unknown-key", at, message).with_nearest(nearest));
        }
        return found.map(|(_, field)| ImportTarget::Run(*field));
    }
    fixed_place(reader, &reader.place(key, file.part()), at).map(ImportTarget::State)
}

/// A file belongs to one place for as long as the run lasts, so its path has names alone.
fn fixed_place(reader: Reader<'_>, place: &Place, at: &crate::fault::Position) -> Option<ResolvedPath> {
    let name = |segment: &Segment| match segment {
        Segment::Name(name) => Some(PathStep::Key(name.clone())),
        Segment::At(_) => None,
    };
    let steps: Option<Vec<PathStep>> = place.segments().iter().map(name).collect();
    match steps.filter(|_| !place.appends()) {
        Some(steps) if !steps.is_empty() => Some(ResolvedPath(steps)),
        // A place that cannot be read is reported already.
        _ if place.segments().is_empty() => None,
        _ => {
            let message = format!("`{}` is not always the same place", place.text());
            let hint = "write names joined by `.`, such as `plan.tasks`";
            reader.add(Fault::error("bad-place", at, message).with_hint(hint));
            None
        }
    }
}
