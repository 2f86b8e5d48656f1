//! What goes over the wire to the driver: JSON over HTTP on loopback, one connection a call.

use super::driver_program;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::Child;
use std::time::Duration;

/// Longer than any page needs on a busy machine; a call that takes longer fails its test.
const CALL_TIME_MAX: Duration = Duration::from_secs(120);

/// A driver that listens.
#[derive(Debug)]
pub(super) struct Driver {
    port: u16,
}

impl Driver {
    /// Starts the driver at a free port; nothing if it is not installed.
    pub(super) fn start() -> Option<(Self, Child)> {
        let mut process = driver_program()?.spawn().ok()?;
        let mut lines = BufReader::new(process.stdout.take()?).lines();
        let port = lines.find_map(|line| {
            let line = line.ok()?;
            line.strip_suffix('.')?.rsplit_once("on port ")?.1.parse().ok()
        });
        let port = port.expect("the driver says where it listens");
        // It keeps on printing, and must find a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Some((Driver { port }, process))
    }

    /// Calls it, and returns the value of its answer or its error.
    pub(super) fn call(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let answer = self.send(method, path, &text).map_err(|error| error.to_string())?;
        let answer: Value = serde_json::from_str(&answer).map_err(|error| format!("{error}: {answer}"))?;
        match answer["value"].get("error").and_then(Value::as_str) {
            Some(error) => {
                Err(format!("{error}: {}", answer["value"]["message"].as_str().unwrap_or_default()))
            }
            None => Ok(answer["value"].clone()),
        }
    }

    fn send(&self, method: &str, path: &str, body: &str) -> std::io::Result<String> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(CALL_TIME_MAX))?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost:{}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        read_answer(&mut BufReader::new(stream))
    }
}

/// Reads the body of an answer by its length: the driver leaves the connection open.
fn read_answer(stream: &mut impl BufRead) -> std::io::Result<String> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        let value = line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        length = value.and_then(|(_, value)| value.trim().parse().ok()).unwrap_or(length);
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// Returns the steps that move the mouse to a place in the window.
pub(super) fn move_to(x: f64, y: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "a window has a few thousand pixels")]
    let (x, y) = (x as i64, y as i64);
    json!({ "type": "pointerMove", "duration": 20, "x": x, "y": y, "origin": "viewport" })
}

/// Returns the steps that press and release a key, with what is held before a `+`.
pub(super) fn key_actions(keys: &str) -> Vec<Value> {
    let mut held: Vec<&str> = if keys == "+" { vec!["+"] } else { keys.split('+').collect() };
    let last = held.pop().unwrap_or_default();
    let step = |kind: &str, key: &str| json!({ "type": kind, "value": code_of(key) });
    let down = held.iter().map(|key| step("keyDown", key));
    let press = [step("keyDown", last), step("keyUp", last)];
    let up = held.iter().rev().map(|key| step("keyUp", key));
    down.chain(press).chain(up).collect()
}

/// Returns the character that stands for a key in WebDriver.
fn code_of(key: &str) -> String {
    let code = match key {
        "Control" => '\u{e009}',
        "Shift" => '\u{e008}',
        "Alt" => '\u{e00a}',
        "Enter" => '\u{e007}',
        "Escape" => '\u{e00c}',
        "Tab" => '\u{e004}',
        "Space" => ' ',
        "Backspace" => '\u{e003}',
        "ArrowLeft" => '\u{e012}',
        "ArrowUp" => '\u{e013}',
        "ArrowRight" => '\u{e014}',
        "ArrowDown" => '\u{e015}',
        other => return other.to_owned(),
    };
    code.to_string()
}

/// Decodes a picture; what is no digit is passed over.
pub(super) fn decode_base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u8> = text.bytes().filter_map(digit).collect();
    let bytes = digits.chunks(4).flat_map(|chunk| {
        let number = chunk.iter().fold(0_u32, |number, digit| number << 6 | u32::from(*digit))
            << (6 * (4 - chunk.len()));
        let [_, one, two, three] = number.to_be_bytes();
        [one, two, three].into_iter().take(chunk.len().saturating_sub(1)).collect::<Vec<_>>()
    });
    bytes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded() {
        for (text, bytes) in [("", &b""[..]), ("aGk=", b"hi"), ("aGkh", b"hi!"), ("/+8A", &[255, 239, 0])] {
            assert_eq!(decode_base64(text), bytes, "{text}");
        }
    }

    #[test]
    fn a_key_is_held_around_another() {
        let kinds: Vec<String> =
            key_actions("Control+k").iter().map(|step| step["type"].as_str().unwrap().to_owned()).collect();
        assert_eq!(kinds, ["keyDown", "keyDown", "keyUp", "keyUp"]);
    }
}
