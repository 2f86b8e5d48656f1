//! A running git that is fed line by line, such as a ref transaction that is held open.
//!
//! It sees the end of its input when our process dies, however that happens, and then undoes what it has not
//! committed.

use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use crate::error::Error;
use crate::running::Running;

/// Enough of stderr to explain a failure.
const STDERR_BYTES_MAX: u64 = 4 * 1024;

/// A running git with both ends of the conversation.
pub(crate) struct Talk {
    running: Running,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    stderr: ChildStderr,
    words: Vec<String>,
    time_max: Duration,
}

impl Talk {
    /// Takes over a git that was started with three pipes.
    pub(crate) fn new(mut running: Running, words: Vec<String>, time_max: Duration) -> Result<Self, Error> {
        match running.take_pipes() {
            (Some(stdin), Some(stdout), Some(stderr)) => {
                let stdout = BufReader::new(stdout);
                Ok(Self { running, stdin: Some(stdin), stdout, stderr, words, time_max })
            }
            _ => Err(failed_to_talk(std::io::ErrorKind::BrokenPipe.into())),
        }
    }

    /// Says something and waits for the line that git answers it with; a git that ends instead has failed.
    pub(crate) async fn ask(&mut self, said: &str, answer: &str) -> Result<(), Error> {
        let asked = tokio::time::timeout(self.time_max, async {
            if let Some(stdin) = &mut self.stdin {
                // A git that has ended says why on stderr, which is read below.
                let _ = stdin.write_all(said.as_bytes()).await;
                let _ = stdin.flush().await;
            }
            let mut line = String::new();
            loop {
                line.clear();
                if self.stdout.read_line(&mut line).await? == 0 {
                    return Ok(false);
                }
                if line.trim_end() == answer {
                    return Ok(true);
                }
            }
        });
        match asked.await {
            Ok(Ok(true)) => Ok(()),
            Ok(Ok(false)) => Err(self.explain_end().await),
            Ok(Err(error)) => Err(failed_to_talk(error)),
            Err(_) => Err(Error::TimedOut { args: self.words.clone(), limit: self.time_max }),
        }
    }

    /// Ends the conversation and waits until git has ended too.
    pub(crate) async fn end(mut self) -> Result<(), Error> {
        self.stdin = None;
        match tokio::time::timeout(self.time_max, self.running.wait()).await {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(Ok(_)) => Err(self.explain_end().await),
            Ok(Err(error)) => Err(failed_to_talk(error)),
            Err(_) => Err(Error::TimedOut { args: self.words, limit: self.time_max }),
        }
    }

    async fn explain_end(&mut self) -> Error {
        self.stdin = None;
        let mut stderr = Vec::new();
        let _ = (&mut self.stderr).take(STDERR_BYTES_MAX).read_to_end(&mut stderr).await;
        let status = self.running.wait().await.ok().and_then(|status| status.code());
        let stderr = String::from_utf8_lossy(&stderr).trim().to_owned();
        Error::Failed { args: self.words.clone(), status, stderr }
    }
}

fn failed_to_talk(error: std::io::Error) -> Error {
    Error::io("talk to", Path::new("git"))(error)
}
