//! Styles, scripts and icons. Their address has a hash of their content, so a browser asks once.

use crate::answer::{Answer, no_route};
use crate::app::Needs;
use crate::call::Call;
use crate::route::Route;
use http::header;
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
    let answer = Answer::text(asset.media, asset.text);
    // A page of an older version gets the current file, and may not keep it.
    Ok(if hash == assets::hash() { answer.header(header::CACHE_CONTROL, FOR_GOOD) } else { answer })
}

async fn favicon(_: Call) -> Result<Answer, Problem> {
    let asset = assets::find("icon.svg").ok_or_else(|| no_route("/favicon.ico"))?;
    Ok(Answer::text(asset.media, asset.text))
}
