//! Durable Streams: the log and the outputs of sessions, to read with any client of that protocol.
//!
//! They are not in the OpenAPI document: the protocol describes its addresses, parameters and headers itself.

use crate::answer::Answer;
use crate::call::Call;
use crate::route::Route;
use crate::sessions;
use crate::streams::{LogSource, Request, SessionSource, Source, read};
use http::StatusCode;
use regatta_engine::core::{Code, Problem};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/streams/log", "streamLog", "Read the log as a durable stream", log).lenient(),
        Route::get(
            "/streams/sessions/{name}",
            "streamOutput",
            "Read the output of a session as a durable stream",
            output,
        )
        .lenient(),
    ]
}

async fn log(call: Call) -> Result<Answer, Problem> {
    answer(&call, "log", LogSource::new(&call.app)).await
}

async fn output(call: Call) -> Result<Answer, Problem> {
    let log = sessions::find(call.project(), &call.path::<String>("name")?).await?;
    let name = format!("sessions/{}", log.session);
    answer(&call, &name, SessionSource::new(&call.app, log)).await
}

async fn answer(call: &Call, name: &str, source: impl Source) -> Result<Answer, Problem> {
    let read = async {
        let request = Request::parse(name, &call.text, &call.headers, call.is_head)?;
        read(source, request).await
    };
    match read.await {
        Ok(response) => Ok(Answer::whole(response)),
        // The protocol has a status of its own for what cannot be understood.
        Err(problem) if problem.code == Code::ValidationError => {
            Ok(Answer::json(problem.to_json()).status(StatusCode::BAD_REQUEST))
        }
        Err(problem) => Err(problem),
    }
}
