//! The other side of an endpoint: from `regatta mcp` to the socket of its session.

use crate::error::Error;
use crate::session::endpoint::place;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

/// The answer to the token is one short line.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;
/// A busy engine answers in this time; if there is no answer, there is no engine.
const ANSWER_WAIT: Duration = Duration::from_secs(60);

/// Both directions of an open endpoint.
pub struct Joined {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
}

/// Opens the endpoint of the session with this private folder.
pub async fn join(folder: &Path) -> Result<Joined, Error> {
    let ended = || Error::SessionEnded { folder: folder.to_owned() };
    let token = place::read_token(folder).map_err(|_| ended())?;
    let stream = place::connect(folder).await.map_err(|_| ended())?;
    let shown = tokio::time::timeout(ANSWER_WAIT, show(stream, &token)).await;
    let Ok(Ok((joined, answer))) = shown else { return Err(ended()) };
    match serde_json::from_str::<Value>(&answer) {
        Ok(answer) if answer["ok"] == true => Ok(joined),
        Ok(answer) if answer["error"].is_object() => Err(super::report::refused(&answer["error"])),
        _ => Err(ended()),
    }
}

async fn show(stream: UnixStream, token: &str) -> std::io::Result<(Joined, String)> {
    let (reader, mut writer) = stream.into_split();
    writer.write_all(format!("{token}\n").as_bytes()).await?;
    let mut reader = BufReader::new(reader);
    let mut answer = String::new();
    (&mut reader).take(ANSWER_BYTES_MAX).read_line(&mut answer).await?;
    Ok((Joined { reader, writer }, answer))
}

impl Joined {
    /// Returns both directions, for a client of its own.
    pub fn into_parts(
        self,
    ) -> (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static) {
        (self.reader, self.writer)
    }
}

/// Copies bytes in both directions until the endpoint closes its side; the end of the input is passed on.
pub async fn join_streams(
    joined: Joined,
    mut input: impl AsyncRead + Send + Unpin + 'static,
    mut output: impl AsyncWrite + Send + Unpin,
) -> std::io::Result<()> {
    let Joined { mut reader, mut writer } = joined;
    let inward = tokio::spawn(async move {
        let _ = tokio::io::copy(&mut input, &mut writer).await;
        let _ = writer.shutdown().await;
    });
    let outward = copy_promptly(&mut reader, &mut output).await;
    inward.abort();
    outward
}

/// Copies and flushes whatever there is: the other side waits for whole lines, not for full buffers.
async fn copy_promptly(
    reader: &mut (impl AsyncRead + Unpin),
    writer: &mut (impl AsyncWrite + Unpin),
) -> std::io::Result<()> {
    let mut buffer = vec![0_u8; 16 * 1024];
    loop {
        let count = reader.read(&mut buffer).await?;
        if count == 0 {
            return Ok(());
        }
        writer.write_all(&buffer[..count]).await?;
        writer.flush().await?;
    }
}
