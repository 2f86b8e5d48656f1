//! A real browser for tests: headless Chromium, driven over WebDriver.
//!
//! Chromium and its driver are Debian's packages; `cargo xtask test` installs them where it can. A test asks
//! [`Browser::find`] for one and skips itself when there is none. A WebDriver client of a library would add fifty crates for
//! the ten calls that are used here.

mod wire;

use crate::wait::until;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;
use wire::Driver;

/// Set by `cargo xtask test` where the browser is installed: then a missing one is a failure.
const REQUIRED: &str = "REGATTA_BROWSER_REQUIRED";

/// How Chromium is started: nothing of it talks to anybody by itself.
const ARGUMENTS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-features=Translate,OptimizationHints",
];

/// How a page is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// The width of the window.
    pub width: u32,
    /// Its height.
    pub height: u32,
    /// Whether the system is set to dark colours.
    pub is_dark: bool,
}

impl Look {
    /// A desktop in light colours.
    pub const DESKTOP: Look = Look { width: 1400, height: 900, is_dark: false };
    /// A phone in light colours.
    pub const PHONE: Look = Look { width: 390, height: 844, is_dark: false };

    /// Returns the same in dark colours.
    pub const fn dark(self) -> Self {
        Look { is_dark: true, ..self }
    }
}

/// A browser with one window and an empty profile of its own.
#[derive(Debug)]
pub struct Browser {
    driver: Driver,
    session: String,
    process: Child,
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser; where none is installed a test says so and skips itself.
    pub fn find(look: Look) -> Option<Self> {
        let chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser"]
            .into_iter()
            .find(|path| Path::new(path).is_file());
        let (Some(chromium), Some((driver, process))) = (chromium, Driver::start()) else {
            assert!(
                std::env::var_os(REQUIRED).is_none(),
                "Chromium and its driver were there, and are not found"
            );
            eprintln!("skipped: chromium and chromium-driver are not installed");
            return None;
        };
        let profile = tempfile::tempdir().expect("a temporary folder can be made");
        let mut arguments: Vec<String> = ARGUMENTS.iter().map(|argument| (*argument).to_owned()).collect();
        arguments.push(format!("--user-data-dir={}", profile.path().display()));
        arguments.push(format!("--window-size={},{}", look.width, look.height));
        let options = json!({ "binary": chromium, "args": arguments });
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let made = driver.call("POST", "/session", &wanted).expect("a browser starts");
        let session = made["sessionId"].as_str().expect("a session has a name").to_owned();
        let browser = Browser { driver, session, process, _profile: profile };
        browser.look(look);
        Some(browser)
    }

    /// Changes the size of the page and the colours of the system.
    pub fn look(&self, look: Look) {
        let is_phone = look.width < 600;
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": look.width, "height": look.height, "deviceScaleFactor": 1, "mobile": is_phone }),
        );
        let colours = if look.is_dark { "dark" } else { "light" };
        self.devtools(
            "Emulation.setEmulatedMedia",
            json!({ "features": [{ "name": "prefers-color-scheme", "value": colours }] }),
        );
    }

    /// Opens an address and waits until the page is loaded.
    pub fn open(&self, url: &str) {
        self.expect("POST", "/url", &json!({ "url": url }));
    }

    /// Loads the page again.
    pub fn reload(&self) {
        self.expect("POST", "/refresh", &json!({}));
    }

    /// Goes back to the page before.
    pub fn back(&self) {
        self.expect("POST", "/back", &json!({}));
    }

    /// Returns the title of the page.
    pub fn title(&self) -> String {
        self.expect("GET", "/title", &Value::Null).as_str().unwrap_or_default().to_owned()
    }

    /// Returns the address of the page.
    pub fn address(&self) -> String {
        self.expect("GET", "/url", &Value::Null).as_str().unwrap_or_default().to_owned()
    }

    /// Runs the body of a function in the page and returns what it returns; a promise is waited for.
    pub fn run(&self, script: &str) -> Value {
        self.expect("POST", "/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Waits until an expression in the page is true.
    pub fn until(&self, what: &str, expression: &str) {
        let script = format!("return !!({expression})");
        // While a page is being left, there is nothing to ask.
        until(what, || {
            self.call("POST", "/execute/sync", &json!({ "script": script, "args": [] }))
                == Ok(Value::Bool(true))
        });
    }

    /// Waits until an element with this selector is shown.
    pub fn until_shown(&self, selector: &str) {
        let found = format!("document.querySelector({})", json!(selector));
        self.until(&format!("`{selector}` is shown"), &format!("{found} && {found}.checkVisibility()"));
    }

    /// Waits until no element has this selector.
    pub fn until_gone(&self, selector: &str) {
        let found = format!("document.querySelector({}) === null", json!(selector));
        self.until(&format!("`{selector}` is gone"), &found);
    }

    /// Waits until the text of the page has these words.
    pub fn until_text(&self, words: &str) {
        self.until(
            &format!("the page says `{words}`"),
            &format!("document.body.innerText.includes({})", json!(words)),
        );
    }

    /// Returns the text of an element as it is shown.
    pub fn text(&self, selector: &str) -> String {
        let text = self.run(&format!("return document.querySelector({})?.innerText ?? ''", json!(selector)));
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Returns how many elements have this selector.
    pub fn count(&self, selector: &str) -> u64 {
        self.run(&format!("return document.querySelectorAll({}).length", json!(selector)))
            .as_u64()
            .unwrap_or(0)
    }

    /// Clicks on an element as a person does, as soon as that is possible.
    pub fn click(&self, selector: &str) {
        self.until_shown(selector);
        let path = |element: &str| format!("/element/{element}/click");
        until(&format!("`{selector}` can be clicked"), || {
            self.element(selector)
                .is_some_and(|element| self.call("POST", &path(&element), &json!({})).is_ok())
        });
    }

    /// Gives an element the focus, as the key Tab would.
    pub fn focus(&self, selector: &str) {
        self.until_shown(selector);
        self.run(&format!("document.querySelector({}).focus()", json!(selector)));
    }

    /// Chooses an entry of a list by its value.
    pub fn choose(&self, selector: &str, value: &str) {
        self.until_shown(selector);
        self.run(&format!(
            "const list = document.querySelector({}); list.value = {}; \
             list.dispatchEvent(new Event('change', {{ bubbles: true }}))",
            json!(selector),
            json!(value)
        ));
    }

    /// Types into a field.
    pub fn fill(&self, selector: &str, text: &str) {
        self.until_shown(selector);
        let element = self.element(selector).unwrap_or_else(|| panic!("`{selector}` is there"));
        self.expect("POST", &format!("/element/{element}/clear"), &json!({}));
        self.expect("POST", &format!("/element/{element}/value"), &json!({ "text": text }));
    }

    /// Presses keys, one after the other; `Control`, `Shift` and `Alt` before a `+` are held.
    pub fn press(&self, keys: &[&str]) {
        let actions: Vec<Value> = keys.iter().flat_map(|key| wire::key_actions(key)).collect();
        let source = json!({ "type": "key", "id": "keys", "actions": actions });
        self.expect("POST", "/actions", &json!({ "actions": [source] }));
    }

    /// Drags an element onto another with the mouse; `between` is called before the button is released.
    pub fn drag(&self, from: &str, to: &str, between: impl FnOnce()) {
        self.until_shown(from);
        self.until_shown(to);
        let (from, to) = (self.centre(from), self.centre(to));
        let steps = (1..=8).map(|step| {
            let part = f64::from(step) / 8.0;
            wire::move_to(from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part)
        });
        let lift = [wire::move_to(from.0, from.1), json!({ "type": "pointerDown", "button": 0 })];
        self.pointer(lift.into_iter().chain(steps).collect());
        between();
        self.pointer(vec![wire::move_to(to.0, to.1), json!({ "type": "pointerUp", "button": 0 })]);
    }

    /// Waits until nothing on the page moves any more, but for what moves for ever.
    pub fn settle(&self) {
        self.until(
            "nothing moves",
            "document.getAnimations().every((one) => one.playState !== 'running' || one.effect.getTiming().iterations === Infinity)",
        );
    }

    /// Saves a picture of what is seen.
    pub fn screenshot(&self, file: &Path) {
        let taken = self.expect("GET", "/screenshot", &Value::Null);
        let bytes = wire::decode_base64(taken.as_str().unwrap_or_default());
        std::fs::write(file, bytes).expect("a picture can be written");
    }

    /// Returns what the page wrote to its console since the last call: errors, refusals of the content policy.
    pub fn complaints(&self) -> Vec<String> {
        let entries = self.expect("POST", "/se/log", &json!({ "type": "browser" }));
        let severe = entries.as_array().cloned().unwrap_or_default().into_iter();
        severe
            .filter(|entry| entry["level"] == "SEVERE")
            .map(|entry| entry["message"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// Sends a command of the developer tools.
    pub fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.expect("POST", "/goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    fn pointer(&self, actions: Vec<Value>) {
        let source = json!({
            "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": actions,
        });
        self.expect("POST", "/actions", &json!({ "actions": [source] }));
    }

    fn centre(&self, selector: &str) -> (f64, f64) {
        let script = format!(
            "const e = document.querySelector({}); e.scrollIntoView({{block: 'nearest'}}); const r = e.getBoundingClientRect(); \
             return [r.x + r.width / 2, r.y + Math.min(r.height / 2, 60)]",
            json!(selector)
        );
        let found = self.run(&script);
        (found[0].as_f64().unwrap_or(0.0), found[1].as_f64().unwrap_or(0.0))
    }

    fn element(&self, selector: &str) -> Option<String> {
        let query = json!({ "using": "css selector", "value": selector });
        let found = self.call("POST", "/element", &query).ok()?;
        found.as_object()?.values().next()?.as_str().map(str::to_owned)
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        self.driver.call(method, &format!("/session/{}{path}", self.session), body)
    }

    fn expect(&self, method: &str, path: &str, body: &Value) -> Value {
        self.call(method, path, body).unwrap_or_else(|error| panic!("{method} {path} {body}: {error}"))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.driver.call("DELETE", &format!("/session/{}", self.session), &Value::Null);
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the driver's program, if it is there.
fn driver_program() -> Option<Command> {
    let path = ["/usr/bin/chromedriver", "/usr/lib/chromium/chromedriver"]
        .into_iter()
        .find(|path| Path::new(path).is_file())?;
    let mut command = Command::new(path);
    command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    Some(command)
}
