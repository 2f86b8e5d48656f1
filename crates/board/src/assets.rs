//! Styles, scripts and icons, as they are in the binary.
//!
//! Their address has the hash of all of them, so a browser keeps them for good, and scripts find each other by relative
//! addresses: `/assets/HASH/js/main.js` imports `./live.js`. Each is compressed once, when a browser first asks for it.

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::{LazyLock, OnceLock};

/// A file that pages load.
#[derive(Debug)]
pub struct Asset {
    /// Its path after the hash.
    pub path: &'static str,
    /// Its media type.
    pub media: &'static str,
    /// What it contains.
    pub text: &'static str,
    packed: OnceLock<Vec<u8>>,
}

impl Asset {
    const fn new(path: &'static str, media: &'static str, text: &'static str) -> Self {
        Asset { path, media, text, packed: OnceLock::new() }
    }

    /// Returns it compressed with gzip.
    pub fn packed(&self) -> &[u8] {
        self.packed.get_or_init(|| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            let written = encoder.write_all(self.text.as_bytes()).and_then(|()| encoder.finish());
            written.expect("memory can be written to")
        })
    }
}

const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

macro_rules! script {
    ($name:literal) => {
        Asset::new(concat!("js/", $name), JS, include_str!(concat!("../assets/js/", $name)))
    };
}

/// One file for the browser; the order is that of the cascade.
const STYLE: &str = concat!(
    include_str!("../assets/css/base.css"),
    include_str!("../assets/css/board.css"),
    include_str!("../assets/css/panel.css"),
    include_str!("../assets/css/review.css"),
    include_str!("../assets/css/task.css"),
    include_str!("../assets/css/run.css"),
    include_str!("../assets/css/over.css"),
    include_str!("../assets/css/narrow.css"),
);

/// All of them. A page names its own script beside `main.js`.
static ASSETS: [Asset; 29] = [
    Asset::new("board.css", CSS, STYLE),
    Asset::new("icon.svg", SVG, include_str!("../assets/icon.svg")),
    Asset::new("icon-dot.svg", SVG, include_str!("../assets/icon-dot.svg")),
    Asset::new("vendor/idiomorph.js", JS, include_str!("../assets/vendor/idiomorph.min.js")),
    script!("theme.js"),
    script!("main.js"),
    script!("api.js"),
    script!("live.js"),
    script!("fragments.js"),
    script!("toast.js"),
    script!("keys.js"),
    script!("clock.js"),
    script!("dialog.js"),
    script!("draft.js"),
    script!("log.js"),
    script!("request.js"),
    script!("run.js"),
    script!("session.js"),
    script!("task.js"),
    script!("palette.js"),
    script!("new_task.js"),
    script!("notify.js"),
    script!("board.js"),
    script!("drag.js"),
    script!("inbox.js"),
    script!("start.js"),
    script!("review.js"),
    script!("review_comments.js"),
    script!("review_decide.js"),
];

static HASH: LazyLock<String> = LazyLock::new(|| {
    let mut digest = Sha256::new();
    for asset in &ASSETS {
        digest.update(asset.path.as_bytes());
        digest.update([0]);
        digest.update(asset.text.as_bytes());
        digest.update([0]);
    }
    digest.finalize().iter().take(6).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
});

/// Returns the hash of all assets, which changes with any of them.
pub fn hash() -> &'static str {
    &HASH
}

/// Returns the address of an asset.
pub fn url(path: &str) -> String {
    format!("/assets/{}/{path}", hash())
}

/// Finds an asset by its path after the hash.
pub fn find(path: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_import_only_each_other() {
        for asset in ASSETS.iter().filter(|asset| asset.path.starts_with("js/")) {
            for line in asset.text.lines().filter(|line| line.starts_with("import ")) {
                let from = line.split('"').nth(1).unwrap_or_else(|| panic!("{}: {line}", asset.path));
                let name = from.strip_prefix("./").unwrap_or_else(|| panic!("{}: {line}", asset.path));
                assert!(find(&format!("js/{name}")).is_some(), "{}: {line}", asset.path);
            }
        }
    }

    #[test]
    fn nothing_names_another_host() {
        for asset in ASSETS.iter().filter(|asset| !asset.path.starts_with("vendor/")) {
            let text = asset.text.replace("http://www.w3.org/", "");
            assert!(!text.contains("http://") && !text.contains("https://"), "{}", asset.path);
        }
    }

    #[test]
    fn all_scripts_and_styles_are_small_on_the_wire() {
        let bytes: usize =
            ASSETS.iter().filter(|asset| asset.media != SVG).map(|asset| asset.packed().len()).sum();
        assert!((20_000..100_000).contains(&bytes), "{bytes} bytes");
    }

    #[test]
    fn the_address_has_the_hash() {
        assert_eq!(url("board.css"), format!("/assets/{}/board.css", hash()));
        assert_eq!(hash().len(), 12);
    }
}
