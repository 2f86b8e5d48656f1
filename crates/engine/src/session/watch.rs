//! Watches a running session to its end, and takes in what its agent left.

use crate::project::Project;
use crate::runtime::stop_handle::StopHandle;
use crate::session::launch::{Live, close_private_folder};
use crate::session::moved_refs;
use crate::session::open_questions::OpenQuestions;
use crate::session::planted;
use regatta_agents::{Ended, Output, Session};

/// Reads the session's output to its end, and takes in what its agent committed. The transcript keeps the
/// output, so little memory is used.
pub(crate) async fn watch(project: &Project, live: Live, stop_handle: &StopHandle) -> Ended {
    let Live { session: mut running, endpoint, task, result_is, folder, mut open_questions, refs, home } =
        live;
    let stopper = running.stopper();
    let ended = {
        let drained = async {
            while let Some(output) = hear(&mut running, &mut open_questions).await {
                match output {
                    Output::Used(usage) => endpoint.note_usage(usage),
                    Output::PermissionAsked { what, answer, by } => {
                        open_questions.note(what, answer, by).await
                    }
                    _ => {}
                }
            }
            running.wait().await
        };
        tokio::pin!(drained);
        tokio::select! {
            ended = &mut drained => ended,
            reason = stop_handle.asked() => {
                stopper.stop(reason);
                drained.await
            }
        }
    };
    // Copies back renewed logins; no process of the session can write any more. An agent may have left many
    // files, which takes a while to remove.
    let _ = tokio::task::spawn_blocking(move || drop(home)).await;
    // Before anybody runs git there, and before the end of the session is known.
    if let Some(what) = planted::remove(project, &folder).await {
        endpoint.note_refused(what).await;
    }
    // What cannot be taken in is reported where the work is committed.
    let _ = project.repository().take_in(&folder).await;
    if let Some(refs) = refs {
        // Refs that cannot be read are no reason to lose the work.
        let _ = moved_refs::note(project, refs).await;
    }
    close_private_folder(project, task).await;
    // Closed after the last process is dead: until then the agent may still submit something.
    let ended = match endpoint.close().await {
        Some(submitted) => ended.with_submitted(submitted, result_is),
        None => ended,
    };
    ended.judged()
}

/// Returns the next piece of output, while questions of the agent are passed to a person.
async fn hear(running: &mut Session, open_questions: &mut OpenQuestions) -> Option<Output> {
    tokio::select! {
        output = running.next() => output,
        never = open_questions.serve() => match never {},
    }
}
