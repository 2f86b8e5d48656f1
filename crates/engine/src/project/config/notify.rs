//! `[notify]`: who is notified when something waits for a person, fails or is done.

use crate::notices::is_loopback;
use crate::project::config::{Fault, Words, fault};
use serde::Deserialize;

/// The longest URL; longer ones are a mistake.
const URL_BYTES_MAX: usize = 2_000;

/// Who is notified.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NotifySettings {
    /// A command that is run for each notice, outside of any sandbox.
    pub command: Option<Vec<String>>,
    /// Where each notice is sent.
    pub webhook: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawNotify {
    command: Option<Words>,
    webhook: Option<String>,
}

impl RawNotify {
    pub(super) fn check(&self) -> Result<NotifySettings, Fault> {
        let command = self.command.as_ref().map(|words| words.to_shell("command")).transpose()?;
        if let Some(url) = &self.webhook {
            check_url(url).map_err(|why| fault("webhook", format!("`notify.webhook` {why}")))?;
        }
        Ok(NotifySettings { command, webhook: self.webhook.clone() })
    }
}

fn check_url(url: &str) -> Result<(), &'static str> {
    let (scheme, rest) = url.split_once("://").ok_or("must be a URL that begins with `https://`")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if url.len() > URL_BYTES_MAX || !url.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("must have at most 2000 characters, without spaces");
    }
    if authority.is_empty() || authority.contains('@') {
        return Err("must name a host, without a user or a password");
    }
    match scheme {
        "https" => Ok(()),
        "http" if is_loopback(url) => Ok(()),
        _ => Err("must begin with `https://`; `http://` is only for this machine"),
    }
}

#[cfg(test)]
mod tests {
    use crate::project::config::Config;
    use std::path::Path;

    #[test]
    fn a_receiver_is_a_command_or_a_url_that_can_be_trusted() {
        let parse = |text: &str| Config::parse(text, Path::new("config.toml"));
        let config = parse(
            "[notify]\ncommand = [\"notify-send\", \"Regatta\"]\nwebhook = \"https://example.com/hook?x=1\"\n",
        )
        .unwrap();
        assert_eq!(config.notify.command.unwrap().len(), 2);
        assert!(parse("[notify]\nwebhook = \"http://127.0.0.1:9/x\"\n").is_ok());
        assert_eq!(parse("").unwrap().notify, super::NotifySettings::default());
        for (text, said) in [
            ("[notify]\ncommand = []\n", "config.toml:2:1: the command of `command` is empty"),
            ("[notify]\nwebhook = \"example.com\"\n", "config.toml:2:1: `notify.webhook` must be a URL"),
            ("[notify]\nwebhook = \"http://example.com\"\n", "config.toml:2:1: `notify.webhook` must begin"),
            (
                "[notify]\nwebhook = \"https://me:pw@example.com\"\n",
                "config.toml:2:1: `notify.webhook` must name",
            ),
            ("[notify]\nwebhook = \"https:// x\"\n", "config.toml:2:1: `notify.webhook` must have"),
            ("[notify]\nmail = \"x\"\n", "config.toml:2:1: unknown field `mail`"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
