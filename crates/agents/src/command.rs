//! The `command` kind: any program. The prompt goes to its standard input; its result is the last JSON object of
//! its standard output.
//!
//! The program need not know of Regatta: without a result it is judged by its exit code, and by the last line of its
//! standard error if that is not 0.

use jiff::Zoned;

use crate::headless::explain_end;
use crate::judge::judge;
use crate::limits::Limits;
use crate::outcome::Ended;
use crate::process::{Bounds, Launch, Running};
use crate::record::{Closing, Recorder};
use crate::start::{Start, StartError};
use crate::stop::StopSignal;

/// Starts the program.
pub(crate) fn spawn(start: &Start, argv: &[String]) -> Result<Running, StartError> {
    Running::start(&Launch {
        session: &start.session,
        command: argv,
        folder: &start.folder,
        environment: &start.environment,
        input: Some(&start.prompt),
        sandbox: start.sandbox.as_ref(),
        grace: start.limits.grace,
    })
}

/// Watches the program to its end.
pub(crate) async fn drive(
    running: Running,
    limits: Limits,
    mut recorder: Recorder,
    mut stop: StopSignal,
) -> Ended {
    let bounds = Bounds { wall: limits.wall, silence: limits.silence };
    let watched = running.watch(bounds, &mut stop, |stream, bytes| recorder.print(stream, bytes)).await;
    let outcome = explain_end(judge(&watched, &limits), &recorder.last_errors(), &Zoned::now());
    let result = recorder.find_result().await;
    recorder.finish(Closing::new(outcome), result).await
}
