//! The person at the terminal: asked for approvals and answers while something waits for them.

use crate::progress::Progress;
use crate::screen::{CYAN, RED, YELLOW, clean};
use regatta_engine::core::{Lacks, Problem, TaskId};
use regatta_engine::{Error, Project, show_diff, show_task};
use rustix::termios::{QueueSelector, tcflush};
use std::io::Write;
use tokio_util::sync::CancellationToken;

/// The person at the terminal.
pub(crate) struct Person {
    interrupt: CancellationToken,
    may_leave: bool,
}

/// What they say about a diff.
pub(crate) enum Decision {
    /// Merge it, knowing what it lacks.
    Approve,
    /// Send it back, with the reason.
    Reject(String),
    /// Nothing now.
    Later,
}

/// What they answer to a question.
pub(crate) struct Answer {
    pub(crate) approved: bool,
    pub(crate) text: String,
}

impl Person {
    /// Asks somebody who may leave it for later, and has to say so when they agree.
    pub(crate) fn who_may_leave(interrupt: CancellationToken) -> Self {
        Person { interrupt, may_leave: true }
    }

    /// Asks somebody who agrees by pressing Enter.
    pub(crate) fn who_agrees(interrupt: CancellationToken) -> Self {
        Person { interrupt, may_leave: false }
    }

    /// Asks what becomes of the diff of a task.
    pub(crate) async fn decide(
        &self,
        progress: &mut Progress,
        project: &Project,
        task: TaskId,
    ) -> Result<Decision, Problem> {
        let view = show_diff(project, task).await?;
        let lacks = show_task(project, task).await?.lacks.unwrap_or_default();
        let size = format!("waits for your approval: +{} -{}", view.lines_added, view.lines_removed);
        progress.print(&format!("{CYAN}#{task:<3}{CYAN:#} {YELLOW}{size}{YELLOW:#}"));
        warn(progress, &lacks);
        progress.pause();
        let agreement = Agreement::to(&lacks);
        let choices = match (self.may_leave, agreement) {
            (true, Agreement::Yes) => "approve? [y]es, [d]iff, [n]o, [l]ater ".to_owned(),
            (false, Agreement::Yes) => "approve? [Y]es, [d]iff, [n]o ".to_owned(),
            (true, Agreement::Word) => format!("approve? type `{WORD}`, or [d]iff, [n]o, [l]ater "),
            (false, Agreement::Word) => format!("approve? type `{WORD}`, or [d]iff, [n]o "),
        };
        let decision = loop {
            let Some(answer) = self.question(progress, &choices).await? else {
                break self.silence(agreement);
            };
            match answer.to_lowercase().as_str() {
                "" if !self.may_leave && agreement == Agreement::Yes => break Decision::Approve,
                "y" | "yes" if agreement == Agreement::Yes => break Decision::Approve,
                WORD => break Decision::Approve,
                "d" | "diff" => progress.print(&clean(view.patch.as_deref().unwrap_or_default())),
                "l" | "later" if self.may_leave => break Decision::Later,
                "n" | "no" => {
                    let reason = self.question(progress, "why not? ").await?.unwrap_or_default();
                    let is_empty = reason.is_empty();
                    break Decision::Reject(if is_empty { "no reason given".to_owned() } else { reason });
                }
                _ => {}
            }
        };
        progress.resume("continuing");
        Ok(decision)
    }

    /// Asks a question of a run; nothing when it is left for later.
    pub(crate) async fn answer(
        &self,
        progress: &mut Progress,
        question: &str,
    ) -> Result<Option<Answer>, Problem> {
        progress.print(&format!("     {YELLOW}{}{YELLOW:#}", clean(question)));
        progress.pause();
        let said = self.question(progress, "your answer (`no …` refuses, nothing is later): ").await?;
        progress.resume("continuing");
        Ok(said.filter(|text| !text.is_empty()).map(|text| read_answer(&text)))
    }

    /// The end of the input says what the person would not mind: the demo continues, and nothing else is approved.
    fn silence(&self, agreement: Agreement) -> Decision {
        let agrees = !self.may_leave && agreement == Agreement::Yes;
        if agrees { Decision::Approve } else { Decision::Later }
    }

    /// Asks whether a diff that is not whole is approved all the same.
    pub(crate) async fn confirm(
        &self,
        progress: &Progress,
        task: TaskId,
        lacks: &Lacks,
    ) -> Result<bool, Problem> {
        progress.print(&format!("{CYAN}#{task:<3}{CYAN:#} {YELLOW}is not whole{YELLOW:#}"));
        warn(progress, lacks);
        let (text, agreement) = match Agreement::to(lacks) {
            Agreement::Yes => ("approve it anyway? [y]es, [n]o ".to_owned(), Agreement::Yes),
            Agreement::Word => (format!("approve it anyway? type `{WORD}`, or [n]o "), Agreement::Word),
        };
        let answer = self.question(progress, &text).await?.unwrap_or_default().to_lowercase();
        Ok(match agreement {
            Agreement::Yes => ["y", "yes", WORD].contains(&answer.as_str()),
            Agreement::Word => answer == WORD,
        })
    }

    /// Asks whether the programs of a config may run here.
    pub(crate) async fn trusts(&self, progress: &Progress) -> Result<bool, Problem> {
        let answer =
            self.question(progress, "allow it to run these here? [y]es, [n]o ").await?.unwrap_or_default();
        Ok(["y", "yes"].contains(&answer.to_lowercase().as_str()))
    }

    /// Asks for a line; nothing at the end of the input. An interruption ends the wait for it.
    async fn question(&self, progress: &Progress, text: &str) -> Result<Option<String>, Problem> {
        // What was typed before the question is no answer to it.
        let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
        let _ = write!(anstream::stderr(), "     {YELLOW}{text}{YELLOW:#}");
        let _ = std::io::stderr().flush();
        let answer = tokio::task::spawn_blocking(|| {
            let mut answer = String::new();
            let read = std::io::stdin().read_line(&mut answer).unwrap_or(0);
            (read > 0).then(|| answer.trim().to_owned())
        });
        tokio::select! {
            answer = answer => Ok(answer.unwrap_or_default()),
            () = self.interrupt.cancelled() => {
                progress.print("");
                Err(Error::WaitEnded { why: "it was interrupted", left: Vec::new() }.explain())
            }
        }
    }
}

/// The word that a person types where `y` could slip out.
const WORD: &str = "approve";

/// What a person has to type to agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Agreement {
    Yes,
    Word,
}

impl Agreement {
    /// A change of what the engine obeys takes more than a key.
    fn to(lacks: &Lacks) -> Self {
        if lacks.obeyed_files.is_empty() { Agreement::Yes } else { Agreement::Word }
    }
}

/// Says what a diff lacks, above the question.
fn warn(progress: &Progress, lacks: &Lacks) {
    for sentence in lacks.sentences() {
        progress.print(&format!("     {RED}{}{RED:#}", clean(&sentence)));
    }
}

/// Reads `no, because …` as a refusal with a reason. A bare word is the answer itself: an answer always says something.
fn read_answer(text: &str) -> Answer {
    let (word, rest) = text.split_once([' ', ',']).unwrap_or((text, ""));
    let rest = rest.trim_start_matches([' ', ',']).to_owned();
    match word.to_lowercase().as_str() {
        "n" | "no" if rest.is_empty() => Answer { approved: false, text: "no".to_owned() },
        "n" | "no" => Answer { approved: false, text: rest },
        "y" | "yes" if rest.is_empty() => Answer { approved: true, text: "yes".to_owned() },
        _ => Answer { approved: true, text: text.to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_begins_with_no_refuses() {
        for (said, approved, text) in [
            ("no", false, "no"),
            ("N,", false, "no"),
            ("No, use the other one", false, "use the other one"),
            ("yes", true, "yes"),
            ("y", true, "yes"),
            ("use SQLite", true, "use SQLite"),
            ("nothing else", true, "nothing else"),
            ("yes, but quickly", true, "yes, but quickly"),
        ] {
            let answer = read_answer(said);
            assert_eq!((answer.approved, answer.text.as_str()), (approved, text), "{said}");
        }
    }
}
