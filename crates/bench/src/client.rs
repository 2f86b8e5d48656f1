//! An HTTP client that costs little beside the server it measures: one connection, no more of HTTP than is needed.

use crate::error::Error;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How long an answer may take; only a measurement that is stuck waits so long.
const PATIENCE: Duration = Duration::from_secs(60);

/// How much is read at once.
const BUFFER_BYTES: usize = 16 * 1024;

const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// One connection to the server.
pub(crate) struct Client {
    stream: TcpStream,
    head: String,
    /// What was read and not used yet.
    read: Vec<u8>,
}

impl Client {
    /// Connects.
    pub(crate) async fn connect(port: u16, token: &str) -> Result<Self, Error> {
        let stream =
            TcpStream::connect(("127.0.0.1", port)).await.map_err(Error::io("connect to", "the server"))?;
        let _ = stream.set_nodelay(true);
        let head = format!("Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\r\n");
        Ok(Client { stream, head, read: Vec::new() })
    }

    /// Requests an object, and returns how long it is.
    pub(crate) async fn get(&mut self, path: &str) -> Result<usize, Error> {
        let head = self.request(path).await?;
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
        let length: usize = length.ok_or_else(|| wrong(&head))?;
        while self.read.len() < length {
            self.read_more().await?;
        }
        self.read.drain(..length);
        Ok(length)
    }

    /// Begins to follow a stream; what comes is then [`next_piece`](Self::next_piece).
    pub(crate) async fn follow(&mut self, path: &str) -> Result<(), Error> {
        self.request(path).await.map(drop)
    }

    /// Returns what has come of a stream, with the lengths that HTTP puts between its pieces. It waits for as long as it takes.
    pub(crate) async fn next_piece(&mut self) -> Result<Vec<u8>, Error> {
        if self.read.is_empty() {
            self.read_now().await?;
        }
        Ok(std::mem::take(&mut self.read))
    }

    /// Sends a request, and returns the head of the answer.
    async fn request(&mut self, path: &str) -> Result<String, Error> {
        let text = format!("GET {path} HTTP/1.1\r\n{}", self.head);
        self.stream.write_all(text.as_bytes()).await.map_err(Error::io("write to", "the server"))?;
        loop {
            if let Some(at) = self.read.windows(END_OF_HEAD.len()).position(|window| window == END_OF_HEAD) {
                let head: Vec<u8> = self.read.drain(..at + END_OF_HEAD.len()).collect();
                let head = String::from_utf8_lossy(&head).to_lowercase();
                return if head.starts_with("http/1.1 200 ") { Ok(head) } else { Err(wrong(&head)) };
            }
            self.read_more().await?;
        }
    }

    async fn read_more(&mut self) -> Result<(), Error> {
        let read = tokio::time::timeout(PATIENCE, self.read_now()).await;
        read.unwrap_or_else(|_| {
            Err(Error::Stuck { seconds: PATIENCE.as_secs(), what: "an answer does not come".to_owned() })
        })
    }

    async fn read_now(&mut self) -> Result<(), Error> {
        let mut buffer = [0; BUFFER_BYTES];
        let bytes = self.stream.read(&mut buffer).await.map_err(Error::io("read from", "the server"))?;
        if bytes == 0 {
            return Err(wrong("the end of the connection"));
        }
        self.read.extend_from_slice(&buffer[..bytes]);
        Ok(())
    }
}

fn wrong(found: &str) -> Error {
    let wanted = "an answer with 200".to_owned();
    Error::Wrong { what: "what the server sends", found: found.to_owned(), wanted }
}
