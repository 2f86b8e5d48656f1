//! Styles, scripts and icons. Their address has a hash of their content, so a browser asks once.

use crate::answer::{Answer, no_route};
use crate::app::Needs;
use crate::call::Call;
use crate::route::Route;
use http::{HeaderMap, header};
use regatta_board::assets;
use regatta_engine::core::Problem;

const FOR_GOOD: &str = "public, max-age=31536000, immutable";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/assets/{hash}/{*path}", "asset", "Show a file that pages load", asset)
            .needs(Needs::Nothing),
        Route::get("/favicon.ico", "favicon", "Show the icon", favicon).needs(Needs::Nothing),
    ]
}

async fn asset(call: Call) -> Result<Answer, Problem> {
    let (hash, path): (String, String) = (call.path("hash")?, call.path("path")?);
    let asset = assets::find(&path).ok_or_else(|| no_route(&format!("/assets/{hash}/{path}")))?;
    let answer = match accepts_gzip(&call.headers) {
        true => Answer::packed(asset.media, asset.packed()),
        false => Answer::text(asset.media, asset.text),
    };
    let answer = answer.header(header::VARY, "accept-encoding");
    // A page of an older version gets the current file, and may not keep it.
    Ok(if hash == assets::hash() { answer.header(header::CACHE_CONTROL, FOR_GOOD) } else { answer })
}

async fn favicon(_: Call) -> Result<Answer, Problem> {
    let asset = assets::find("icon.svg").ok_or_else(|| no_route("/favicon.ico"))?;
    Ok(Answer::text(asset.media, asset.text))
}

/// Tells whether a client reads gzip: it names it, or everything, and not with a weight of nothing.
fn accepts_gzip(asked: &HeaderMap) -> bool {
    let lists = asked.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut codings = lists.flat_map(|list| list.split(',')).map(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, "q=1"));
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f32>().ok());
        (name.trim().to_ascii_lowercase(), weight.unwrap_or(1.0) > 0.0)
    });
    codings.any(|(name, is_wanted)| is_wanted && matches!(name.as_str(), "gzip" | "x-gzip" | "*"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn gzip_is_sent_to_who_asks_for_it() {
        let asks = |value: &'static str| {
            accepts_gzip(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(value))]))
        };
        for wanted in ["gzip", "br, GZIP;q=0.5", "*", "gzip;q=x"] {
            assert!(asks(wanted), "{wanted}");
        }
        for not in ["", "br", "gzip;q=0", "gzip; q=0.0", "identity", "gzipped"] {
            assert!(!asks(not), "{not}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
    }
}
