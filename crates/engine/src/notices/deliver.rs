//! Hands a notice to its receiver: runs the command, or sends the webhook.
//!
//! The webhook is sent by the `curl` program, as git is done by `git`: an HTTPS client in the binary would add a TLS library
//! and its certificates to every build, and would know neither the machine's own certificates nor its proxy. What it sends
//! is read from its standard input, so that nothing of it is in the list of processes.

use crate::error::chain;
use crate::notices::notice::Notice;
use crate::notices::notifier::Timing;
use crate::notices::signature::Key;
use crate::project::Project;
use regatta_agents::{MARKER, RunReport, StartError, run_with_input};
use std::fmt::Write as _;
use std::time::Duration;

/// Enough of the output of a failed receiver to see why it failed.
const TAIL_BYTES_MAX: usize = 2_048;

/// What separates curl's own messages from the status that it prints.
const STATUS: &str = "regatta-status=";

/// Runs the command of the config outside of any sandbox, with the notice on its standard input.
pub(crate) async fn run_command(
    project: &Project,
    command: &[String],
    notice: &Notice,
    timing: &Timing,
) -> Result<(), String> {
    let mut environment = own_environment();
    for (name, value) in [
        ("REGATTA_NOTICE_ID", notice.id.as_str()),
        ("REGATTA_NOTICE_TYPE", notice.kind.as_str()),
        ("REGATTA_NOTICE_TEXT", &notice.text),
        ("REGATTA_NOTICE_URL", notice.url.as_deref().unwrap_or_default()),
    ] {
        environment.push((name.to_owned(), value.to_owned()));
    }
    let line = format!("{}\n", notice.to_line());
    let ran = run(project, command, &environment, &line, timing.delivery_wall).await;
    let report = ran.map_err(|error| failed_to_start(&command[0], &error))?;
    match report.exit {
        Some(0) if !report.timed_out => Ok(()),
        _ if report.timed_out => Err(format!("it did not end within {} s", timing.delivery_wall.as_secs())),
        exit => {
            let ended =
                exit.map_or_else(|| "by a signal".to_owned(), |exit| format!("with exit code {exit}"));
            Err(format!("it ended {ended}: {}", report.tail.trim()))
        }
    }
}

/// Sends a webhook; anything but a 2xx is a failure.
pub(crate) async fn send_webhook(
    project: &Project,
    (url, key): (&str, &Key),
    notice: &Notice,
    timing: &Timing,
) -> Result<(), String> {
    let body = notice.to_line();
    let seconds = crate::clock::now().as_second();
    let signature = key.sign(&notice.id, seconds, &body);
    let config = describe(url, &notice.id, seconds, &signature, &body, timing.delivery_wall);
    // The user's own settings of curl are left out: they could follow redirects, or print.
    let command = ["curl", "-q", "--config", "-"].map(str::to_owned);
    // curl gives up by itself first.
    let wall = timing.delivery_wall + Duration::from_secs(5);
    let ran = run(project, &command, &own_environment(), &config, wall).await;
    let report = ran.map_err(|error| failed_to_start("curl", &error))?;
    let status = report.tail.rsplit_once(STATUS).and_then(|(_, status)| status.trim().parse::<u16>().ok());
    match status {
        Some(200..=299) => Ok(()),
        Some(status @ 100..) => Err(format!("it answered {status}")),
        _ => Err(report.tail.split(STATUS).next().unwrap_or_default().trim().to_owned()),
    }
}

/// Writes what curl reads from its standard input.
fn describe(url: &str, id: &str, seconds: i64, signature: &str, body: &str, wall: Duration) -> String {
    let mut config = String::from("silent\nshow-error\ngloboff\noutput = \"/dev/null\"\n");
    let mut set = |name: &str, value: &str| {
        let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(config, "{name} = \"{quoted}\"");
    };
    set("url", url);
    set("request", "POST");
    set("proto", "=https,http");
    set("max-time", &wall.as_secs().max(1).to_string());
    set("user-agent", concat!("regatta/", env!("CARGO_PKG_VERSION")));
    set("header", "content-type: application/json");
    set("header", "expect:");
    set("header", &format!("webhook-id: {id}"));
    set("header", &format!("webhook-timestamp: {seconds}"));
    set("header", &format!("webhook-signature: {signature}"));
    set("data-raw", body);
    set("write-out", &format!("\\n{STATUS}%{{http_code}}"));
    if is_loopback(url) {
        set("noproxy", "*");
    }
    config
}

/// Tells whether a URL leads to this machine.
pub(crate) fn is_loopback(url: &str) -> bool {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return false;
    }
    let host = match authority.strip_prefix('[') {
        Some(six) => six.split(']').next().unwrap_or_default(),
        None => authority.rsplit_once(':').map_or(authority, |(host, _)| host),
    };
    host == "localhost" || host == "::1" || host.parse().is_ok_and(|ip: std::net::Ipv4Addr| ip.is_loopback())
}

async fn run(
    project: &Project,
    command: &[String],
    environment: &[(String, String)],
    input: &str,
    wall: Duration,
) -> Result<RunReport, StartError> {
    run_with_input(command, project.root(), environment, Some(input), None, wall, TAIL_BYTES_MAX).await
}

/// The environment of this process, which is its user's; what belongs to a session does not.
fn own_environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name != MARKER && !name.starts_with("REGATTA_"))
        .collect()
}

fn failed_to_start(program: &str, error: &StartError) -> String {
    format!("`{program}` could not be started: {}", chain(error).join(": "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_notice_becomes_a_setting_of_curl() {
        let config = describe(
            "https://example.com/x",
            "msg_1",
            7,
            "v1,s",
            r#"{"text":"a \"b\" \\ c"}"#,
            Duration::ZERO,
        );
        assert!(config.contains(r#"data-raw = "{\"text\":\"a \\\"b\\\" \\\\ c\"}""#), "{config}");
        assert_eq!(config.lines().filter(|line| line.starts_with("url")).count(), 1);
        assert!(!config.contains("noproxy"));
    }

    #[test]
    fn only_addresses_of_this_machine_are_loopback() {
        for url in ["http://localhost:1/x", "http://127.0.0.1", "http://[::1]:80/", "http://127.9.9.9:1?x"] {
            assert!(is_loopback(url), "{url}");
        }
        for url in [
            "http://example.com",
            "http://localhost.example.com",
            "http://127.0.0.1.example.com/",
            "http://localhost:1@example.com",
            "",
            "x",
        ] {
            assert!(!is_loopback(url), "{url}");
        }
    }
}
