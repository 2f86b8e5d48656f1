//! The signals that a run takes now, as people and programs see them.

use crate::clock;
use crate::core::run::{Run, takes_signal};
use crate::error::Error;
use crate::project::Project;
use crate::runs::driver::Driver;
use serde::Serialize;
use serde_json::Value;

/// A signal that a run takes.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SignalView {
    /// Its name.
    pub name: String,
    /// What it is for, in a line; may be empty.
    pub title: String,
    /// The schema of its input.
    pub input: Value,
    /// The node at which a run that has ended continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// Lists the signals that a run takes now; whether each is accepted may also depend on its input.
pub(crate) async fn list(project: &Project, run: &Run) -> Result<Vec<SignalView>, Error> {
    let driver = match Driver::load(project, run.id).await {
        Ok(driver) => driver,
        // One whose definition this version does not accept takes none.
        Err(Error::Workflow(_)) => return Ok(Vec::new()),
        Err(other) => return Err(other),
    };
    let inputs = driver.inputs(clock::now());
    let taken = driver.workflow().signals.iter().filter(|signal| takes_signal(inputs, driver.run(), signal));
    let view = |signal: &regatta_flow::Signal| SignalView {
        name: signal.name.clone(),
        title: signal.title.clone(),
        input: signal.input.document().clone(),
        to: signal.to.as_ref().filter(|_| run.is_over()).map(|to| to.name.to_string()),
    };
    Ok(taken.map(view).collect())
}
