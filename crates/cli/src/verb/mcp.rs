//! `regatta mcp`.

use crate::arguments::Place;
use crate::caller::caller;
use crate::exit::Exit;
use clap::Args;
use regatta_engine::Error;
use regatta_engine::core::{Code, Problem};
use regatta_engine::endpoint;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Serve tools to an agent (MCP over stdin and stdout)
///
/// The agent starts this itself. Without --board it serves the tools of the session that it runs in; with --board, the tools
/// for your own agent, which works on the board for you but cannot approve or merge. Only protocol messages are printed on
/// stdout.
#[derive(Args)]
pub(crate) struct Mcp {
    /// Private folder of the session [default: that of the session it runs in].
    #[arg(long, value_name = "FOLDER")]
    session: Option<PathBuf>,
    /// Serve the board of the project to your own agent
    #[arg(long, conflicts_with = "session")]
    board: bool,
}

impl Mcp {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        if self.board {
            return serve_board(place).await;
        }
        let around = || {
            std::env::var_os(endpoint::FOLDER_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        let given = self.session.map(|folder| place.resolve(&folder));
        let folder = given.or_else(around).ok_or_else(no_session)?;
        let joined = join(&folder).await?;
        // A reader that went away is the agent's affair.
        let _ = endpoint::join_streams(joined, tokio::io::stdin(), tokio::io::stdout()).await;
        Ok(Exit::Done)
    }
}

async fn serve_board(place: &Place) -> Result<Exit, Problem> {
    let project = Arc::new(place.open().await?);
    let actor = caller(None).actor;
    regatta_server::serve_board(project, actor, tokio::io::stdin(), tokio::io::stdout()).await?;
    Ok(Exit::Done)
}

/// Joins from within the folder, so that its path may be of any length.
async fn join(folder: &Path) -> Result<endpoint::Joined, Error> {
    let ended = || Error::SessionEnded { folder: folder.to_owned() };
    std::env::set_current_dir(folder).map_err(|_| ended())?;
    match endpoint::join(Path::new(".")).await {
        Err(Error::SessionEnded { .. }) => Err(ended()),
        other => other,
    }
}

fn no_session() -> Problem {
    Problem::new(
        Code::SessionEnded,
        "there is no session to serve tools for",
        format!("neither `--session FOLDER` nor {} says which", endpoint::FOLDER_VARIABLE),
        "agents start `regatta mcp` themselves inside a session; outside of one, use `regatta task`",
    )
}
