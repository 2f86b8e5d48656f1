//! The pages of a browser on its way in: one-time codes, and what to do without a cookie.

use crate::access;
use crate::answer::Answer;
use crate::call::Call;
use http::StatusCode;
use http::header;
use http::request::Parts;
use regatta_board::markup::escape;
use regatta_engine::core::Problem;

const HTML: &str = "text/html; charset=utf-8";

/// `GET /open?code=…`: turns a one-time code into a cookie.
pub(crate) async fn open(call: Call) -> Result<Answer, Problem> {
    let code = call.query.text("code").unwrap_or_default();
    if call.app.keys.redeem(code) {
        // A strict cookie is not sent after a redirect that began elsewhere, so the page itself navigates.
        let answer = page("Regatta", &refresh("/"), "<p>Opening … <a href=\"/\">Continue</a></p>");
        let is_public = call.app.hosts.is_public(&call.headers);
        return Ok(answer.header(header::SET_COOKIE, &access::set_cookie(&call.app.keys, is_public)));
    }
    Ok(closed("this address was used already, or is older than ten minutes"))
}

/// The page for a browser without a good cookie; one that comes from elsewhere has perhaps only not sent it.
pub(crate) fn without_cookie(parts: &Parts) -> Answer {
    if crate::guard::is_from_elsewhere(parts) {
        // Two slashes at the start would lead to another host.
        let path =
            parts.uri.path_and_query().map(|path| path.as_str()).filter(|path| !path.starts_with("//"));
        let path = path.unwrap_or("/");
        return page("Regatta", &refresh(path), &format!("<p><a href=\"{}\">Continue</a></p>", escape(path)));
    }
    closed("this browser has no valid cookie for the project")
}

fn closed(why: &str) -> Answer {
    let text = format!(
        "<p>Not opened: {why}.</p><p>Run <code>regatta url</code> in the project, and open the address that it prints.</p>"
    );
    page("Regatta", "", &text).status(StatusCode::UNAUTHORIZED)
}

fn refresh(path: &str) -> String {
    format!("<meta http-equiv=\"refresh\" content=\"0; url={}\">", escape(path))
}

fn page(title: &str, head: &str, text: &str) -> Answer {
    let style = regatta_board::assets::url("board.css");
    let text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">{head}<title>{title}</title><link rel=\"stylesheet\" \
         href=\"{style}\"></head>\n<body class=\"door\"><main><h1>{title}</h1>{text}</main></body>\n</html>\n"
    );
    Answer::text(HTML, text)
}
