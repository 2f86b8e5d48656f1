//! Hosts an endpoint on its socket: asks each connection for the token, and serves those that have it.
//!
//! The number of connections is bounded, and so is the time that one may take to show its token.

use crate::core::{Code, Problem};
use crate::session::endpoint::session_tools::SessionTools;
use crate::session::endpoint::token::{LINE_BYTES_MAX, Token};
use regatta_agents::GuardedReader;
use regatta_mcp::Service;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// An agent starts one tool server, and its helpers perhaps one each.
const CONNECTIONS_MAX: usize = 16;
/// `regatta mcp` shows its token at once.
const TOKEN_WAIT: Duration = Duration::from_secs(10);
/// When no more files can be opened, a short wait may help.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Hosts the endpoint until `stop` is cancelled.
pub(crate) async fn host(
    listener: UnixListener,
    token: Token,
    session_tools: Arc<SessionTools>,
    stop: CancellationToken,
) {
    let token = Arc::new(token);
    let mut talks = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            Some(_) = talks.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        // Finished ones no longer count.
        while talks.try_join_next().is_some() {}
        match accepted {
            Ok((stream, _)) if talks.len() < CONNECTIONS_MAX => {
                talks.spawn(talk(stream, Arc::clone(&token), Arc::clone(&session_tools)));
            }
            Ok((stream, _)) => {
                talks.spawn(turn_away(stream));
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

async fn talk(stream: UnixStream, token: Arc<Token>, session_tools: Arc<SessionTools>) {
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    let shown = tokio::time::timeout(TOKEN_WAIT, read_line(&mut reader)).await;
    let is_known = shown.ok().flatten().is_some_and(|shown| token.is(&shown));
    let answer = if is_known { json!({ "ok": true }) } else { wrong_token() };
    if say(&mut writer, &answer).await.is_err() || !is_known {
        return;
    }
    // A client that disconnects knows it; there is nobody else to notify.
    let _ = regatta_mcp::serve(Service::new(session_tools), GuardedReader::new(reader), writer).await;
}

async fn turn_away(mut stream: UnixStream) {
    let problem = Problem::new(
        Code::Forbidden,
        "no further connection to the tools was opened",
        format!("the session already has {CONNECTIONS_MAX} connections to them"),
        "stop one of the programs that use them, then try again",
    );
    let _ = say(&mut stream, &problem.to_json()).await;
}

async fn read_line(reader: &mut (impl AsyncBufReadExt + Unpin)) -> Option<String> {
    let mut line = String::new();
    reader.take(LINE_BYTES_MAX).read_line(&mut line).await.ok()?;
    line.strip_suffix('\n').map(str::to_owned)
}

async fn say(writer: &mut (impl AsyncWriteExt + Unpin), answer: &Value) -> std::io::Result<()> {
    writer.write_all(format!("{answer}\n").as_bytes()).await?;
    writer.flush().await
}

fn wrong_token() -> Value {
    Problem::new(
        Code::Forbidden,
        "the tools of the session were not opened",
        "the token is not that of this session",
        "start `regatta mcp` inside the session, as its agent does",
    )
    .to_json()
}
