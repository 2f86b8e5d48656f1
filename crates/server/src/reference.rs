//! The reference of the API as a page, rendered from the same document as `/api/openapi.json`.
//!
//! It needs no script, and one style sheet of ours: the content policy allows nothing else, and it works offline.

use regatta_board::markup::escape;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The style sheet of the page.
pub(crate) const STYLE: &str = include_str!("../assets/reference.css");

/// Where the style sheet is.
pub(crate) const STYLE_PATH: &str = "/api/reference.css";

/// Statuses from here on are errors, which are the same everywhere and are listed once.
const ERRORS_FROM: u16 = 400;

/// Renders the page.
pub(crate) fn render(document: &Value) -> String {
    let groups = group(document);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Regatta API</title>\n\
         <link rel=\"stylesheet\" href=\"{STYLE_PATH}\">\n</head>\n<body>\n<header>\n<h1>Regatta API</h1>\n\
         <p>{} The same in <a href=\"/api/openapi.json\">OpenAPI 3.1</a>.</p>\n</header>\n<nav aria-label=\"Groups\">\n<ul>\n",
        prose(&document["info"]["description"])
    );
    for name in groups.keys().map(String::as_str).chain(["objects", "errors"]) {
        let _ = writeln!(page, "<li><a href=\"#{name}\">{name}</a></li>");
    }
    page.push_str("</ul>\n</nav>\n<main>\n");
    for (name, operations) in &groups {
        section(&mut page, name, |page| operations.iter().for_each(|operation| operation.render(page)));
    }
    section(&mut page, "objects", |page| objects(page, &document["components"]["schemas"]));
    section(&mut page, "errors", |page| errors(page, document));
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn section(page: &mut String, name: &str, fill: impl FnOnce(&mut String)) {
    let _ = writeln!(
        page,
        "<section id=\"{name}\" aria-labelledby=\"h-{name}\">\n<h2 id=\"h-{name}\">{name}</h2>"
    );
    fill(page);
    page.push_str("</section>\n");
}

/// One method of one address.
struct Operation<'a> {
    method: &'a str,
    path: &'a str,
    value: &'a Value,
}

fn group(document: &Value) -> BTreeMap<String, Vec<Operation<'_>>> {
    let mut groups: BTreeMap<String, Vec<Operation<'_>>> = BTreeMap::new();
    for (path, methods) in fields(&document["paths"]) {
        let name = path.trim_start_matches("/api").split('/').nth(1).unwrap_or_default();
        let name = name.split('.').next().unwrap_or_default().to_owned();
        for (method, value) in fields(methods) {
            groups.entry(name.clone()).or_default().push(Operation { method, path, value });
        }
    }
    groups
}

impl Operation<'_> {
    fn render(&self, page: &mut String) {
        let Operation { method, path, value } = self;
        let _ = writeln!(
            page,
            "<article id=\"{}\">\n<h3><code class=\"{method}\">{}</code> <code>{}</code></h3>\n<p>{}.</p>",
            text(&value["operationId"]),
            method.to_uppercase(),
            escape(path),
            prose(&value["summary"])
        );
        let parameters: Vec<Vec<String>> = list(&value["parameters"]).map(parameter).collect();
        table(page, &["Parameter", "In", "Type", "Meaning"], &parameters);
        for (media, content) in fields(&value["requestBody"]["content"]) {
            let _ = writeln!(page, "<h4>Body <small>{}</small></h4>", escape(media));
            table(page, &["Field", "Type", "Meaning"], &object_fields(&content["schema"]));
            example(page, &content["example"]);
        }
        let is_shown = |status: &str| status.parse::<u16>().is_ok_and(|status| status < ERRORS_FROM);
        let answers: Vec<Vec<String>> = fields(&value["responses"])
            .filter(|(status, _)| is_shown(status))
            .map(|(status, answer)| {
                let contents: Vec<String> = fields(&answer["content"]).map(content).collect();
                vec![code(status), contents.join(" or "), prose(&answer["description"])]
            })
            .collect();
        table(page, &["Answer", "Content", "Meaning"], &answers);
        page.push_str("</article>\n");
    }
}

/// Names what a response holds, with a link to the object.
fn content((media, content): (&String, &Value)) -> String {
    let schema = &content["schema"];
    let items = &schema["properties"]["items"]["items"];
    match (name_of(schema), name_of(items)) {
        (Some(name), _) => link(name),
        (None, Some(name)) if media.ends_with("json") => format!("page of {}", link(name)),
        _ => escape(media),
    }
}

fn name_of(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

fn link(name: &str) -> String {
    format!("<a href=\"#object-{name}\">{name}</a>")
}

/// Lists the objects that are sent, each with its fields and an example.
fn objects(page: &mut String, schemas: &Value) {
    for (name, schema) in fields(schemas) {
        let _ = writeln!(page, "<article id=\"object-{name}\">\n<h3>{name}</h3>");
        let rows: Vec<Vec<String>> =
            object_fields(schema).into_iter().map(|row| row.into_iter().take(2).collect()).collect();
        table(page, &["Field", "Type"], &rows);
        example(page, &schema["examples"][0]);
        page.push_str("</article>\n");
    }
}

/// Lists the statuses of errors, with the codes that have them.
fn errors(page: &mut String, document: &Value) {
    let mut statuses: BTreeMap<&str, &str> = BTreeMap::new();
    for (_, operation) in fields(&document["paths"]).flat_map(|(_, methods)| fields(methods)) {
        for (status, answer) in fields(&operation["responses"]).filter(|(status, _)| status.as_str() >= "400")
        {
            let _ = statuses.entry(status).or_insert(text(&answer["description"]));
        }
    }
    let _ = writeln!(
        page,
        "<p>The body of an error is {}. Any request can end with one of these.</p>",
        link("Error")
    );
    let rows: Vec<Vec<String>> =
        statuses.iter().map(|(status, codes)| vec![code(status), escape(codes)]).collect();
    table(page, &["Status", "Codes"], &rows);
}

fn parameter(value: &Value) -> Vec<String> {
    let required = if value["required"] == true { " (required)" } else { "" };
    let about = format!("{}{required}", prose(&value["description"]));
    vec![code(text(&value["name"])), escape(text(&value["in"])), escape(&type_of(&value["schema"])), about]
}

fn object_fields(schema: &Value) -> Vec<Vec<String>> {
    let required: Vec<&str> = list(&schema["required"]).map(text).collect();
    fields(&schema["properties"])
        .map(|(name, field)| {
            let mark = if required.contains(&name.as_str()) { " (required)" } else { "" };
            vec![code(name), escape(&type_of(field)), format!("{}{mark}", prose(&field["description"]))]
        })
        .collect()
}

fn example(page: &mut String, found: &Value) {
    let shown = match found {
        Value::Null => return,
        Value::String(text) => text.clone(),
        found => serde_json::to_string_pretty(found).unwrap_or_default(),
    };
    let _ = writeln!(
        page,
        "<details><summary>Example</summary>\n<pre tabindex=\"0\"><code>{}</code></pre>\n</details>",
        escape(&shown)
    );
}

fn table(page: &mut String, heads: &[&str], rows: &[Vec<String>]) {
    if rows.is_empty() {
        return;
    }
    let heads: String = heads.iter().map(|head| format!("<th scope=\"col\">{head}</th>")).collect();
    let _ = writeln!(page, "<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>");
    for row in rows {
        let cells: String = row.iter().map(|cell| format!("<td>{cell}</td>")).collect();
        let _ = writeln!(page, "<tr>{cells}</tr>");
    }
    page.push_str("</tbody>\n</table>\n");
}

fn type_of(schema: &Value) -> String {
    let one = |value: &Value| text(value).to_owned();
    match &schema["type"] {
        Value::Array(types) => types.iter().map(one).collect::<Vec<_>>().join(" or "),
        Value::String(name) if name == "array" => match text(&schema["items"]["type"]) {
            "" => "array".to_owned(),
            items => format!("array of {items}"),
        },
        Value::String(name) => name.clone(),
        _ => "any".to_owned(),
    }
}

/// Renders a sentence; what is between backquotes is code.
fn prose(value: &Value) -> String {
    let mut is_code = true;
    let parts = text(value).split('`').map(|part| {
        is_code = !is_code;
        if is_code { code(part) } else { escape(part) }
    });
    parts.collect()
}

fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn code(text: &str) -> String {
    format!("<code>{}</code>", escape(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_are_escaped_and_code_is_marked() {
        assert_eq!(prose(&json!("Send `<next>` & wait")), "Send <code>&lt;next&gt;</code> &amp; wait");
        let document = json!({
            "info": { "description": "All of `it`." },
            "paths": { "/api/x": { "get": {
                "operationId": "x", "summary": "List <them>",
                "responses": {
                    "200": { "description": "There", "content": { "application/json": { "schema": {
                        "properties": { "items": { "items": { "$ref": "#/components/schemas/X" } } }
                    } } } },
                    "404": { "description": "GONE" }
                }
            } } },
            "components": { "schemas": { "X": { "properties": { "id": { "type": ["null", "string"] } } } } }
        });
        let page = render(&document);
        for wanted in [
            "<p>List &lt;them&gt;.</p>",
            "page of <a href=\"#object-X\">X</a>",
            "<article id=\"object-X\">",
            "<td>null or string</td>",
            "<tr><td><code>404</code></td><td>GONE</td></tr>",
        ] {
            assert!(page.contains(wanted), "{wanted}: {page}");
        }
        assert_eq!(page.matches("404").count(), 1, "errors are listed once");
    }
}
