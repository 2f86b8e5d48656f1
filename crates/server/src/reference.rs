//! The reference of the API as a page, rendered from the same document as `/api/openapi.json`.
//!
//! It needs no script, and one style sheet of ours: the content policy allows nothing else, and it works offline.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The style sheet of the page.
pub(crate) const STYLE: &str = include_str!("../assets/reference.css");

/// Where the style sheet is.
pub(crate) const STYLE_PATH: &str = "/api/reference.css";

/// Renders the page.
pub(crate) fn render(document: &Value) -> String {
    let groups = group(document);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Regatta API</title>\n\
         <link rel=\"stylesheet\" href=\"{STYLE_PATH}\">\n</head>\n<body>\n<header>\n<h1>Regatta API</h1>\n\
         <p>{} The same in <a href=\"/api/openapi.json\">OpenAPI 3.1</a>.</p>\n</header>\n<nav aria-label=\"Groups\">\n<ul>\n",
        escape(text(&document["info"]["description"]))
    );
    for name in groups.keys() {
        let _ = writeln!(page, "<li><a href=\"#{name}\">{name}</a></li>");
    }
    page.push_str("</ul>\n</nav>\n<main>\n");
    for (name, operations) in &groups {
        let _ = writeln!(
            page,
            "<section id=\"{name}\" aria-labelledby=\"h-{name}\">\n<h2 id=\"h-{name}\">{name}</h2>"
        );
        for operation in operations {
            operation.render(document, &mut page);
        }
        page.push_str("</section>\n");
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
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
    fn render(&self, document: &Value, page: &mut String) {
        let Operation { method, path, value } = self;
        let (id, summary) = (text(&value["operationId"]), escape(text(&value["summary"])));
        let _ = writeln!(
            page,
            "<article id=\"{id}\">\n<h3><code class=\"{method}\">{}</code> <code>{}</code></h3>\n<p>{summary}.</p>",
            method.to_uppercase(),
            escape(path)
        );
        let parameters: Vec<Vec<String>> = list(&value["parameters"]).map(parameter).collect();
        table(page, ["Parameter", "In", "Type", ""], &parameters);
        for (media, content) in fields(&value["requestBody"]["content"]) {
            let _ = writeln!(page, "<h4>Body <small>{}</small></h4>", escape(media));
            table(page, ["Field", "Type", "", ""], &body_fields(&content["schema"]));
            example(page, document, content);
        }
        page.push_str("<h4>Answers</h4>\n");
        let answers: Vec<Vec<String>> = fields(&value["responses"])
            .map(|(status, answer)| {
                let media: Vec<&str> = fields(&answer["content"]).map(|(media, _)| media.as_str()).collect();
                vec![
                    code(status),
                    escape(&media.join(", ")),
                    escape(text(&answer["description"])),
                    String::new(),
                ]
            })
            .collect();
        table(page, ["Status", "Type", "", ""], &answers);
        let success = fields(&value["responses"]).find(|(status, _)| status.starts_with('2'));
        if let Some((_, content)) = success.and_then(|(_, answer)| fields(&answer["content"]).next()) {
            example(page, document, content);
        }
        page.push_str("</article>\n");
    }
}

fn parameter(value: &Value) -> Vec<String> {
    let schema = &value["schema"];
    let required = if value["required"] == true { " (required)" } else { "" };
    let about = format!("{}{required}", text(&value["description"]));
    vec![code(text(&value["name"])), escape(text(&value["in"])), escape(&type_of(schema)), escape(&about)]
}

fn body_fields(schema: &Value) -> Vec<Vec<String>> {
    let required: Vec<&str> = list(&schema["required"]).map(text).collect();
    fields(&schema["properties"])
        .map(|(name, field)| {
            let about = text(&field["description"]);
            let mark = if required.contains(&name.as_str()) { "required" } else { "" };
            vec![code(name), escape(&type_of(field)), escape(about), mark.to_owned()]
        })
        .collect()
}

/// Shows the example of a content, which may be that of the schema it refers to.
fn example(page: &mut String, document: &Value, content: &Value) {
    let schema = &content["schema"];
    let name = text(&schema["$ref"]).rsplit('/').next().unwrap_or_default();
    let schema = if name.is_empty() { schema } else { &document["components"]["schemas"][name] };
    let found = [&content["example"], &schema["examples"][0]].into_iter().find(|found| !found.is_null());
    let Some(found) = found else { return };
    let shown = serde_json::to_string_pretty(found).unwrap_or_default();
    let _ = writeln!(
        page,
        "<details><summary>Example</summary>\n<pre tabindex=\"0\"><code>{}</code></pre>\n</details>",
        escape(&shown)
    );
}

fn table(page: &mut String, heads: [&str; 4], rows: &[Vec<String>]) {
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
        found => one(found),
    }
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

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
