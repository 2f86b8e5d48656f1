//! Answers the tool calls of one session, in the name of its agent.
//!
//! Edits of the task are edits of its file; messages and notes are commands. Only the submitted result and counters are
//! kept here.

use crate::commands::messages::{self, MessageView};
use crate::commands::{notes, orders, signals as signals_of_runs};
use crate::core::message::{Draft, Party};
use crate::core::{Code, EpicId, FieldFault, Id, MessageId, Problem, Task, TaskId, find_nearest};
use crate::error::Error;
use crate::forecast::tell;
use crate::project::Project;
use crate::runs;
use crate::session::endpoint::answers::{
    collision_answer, fault_from, leave_out, message_answer, note_of, refusal_of, task_answer,
};
use crate::session::endpoint::signals::Signal;
use crate::session::endpoint::{OfRun, Subject};
use crate::session::endpoint::{Opening, budget, signals};
use crate::session::worker::Worker;
use crate::task_files::edits::{self, Progress};
use crate::view::reading;
use regatta_agents::{Limits, Usage, check_report};
use regatta_files::TaskFile;
use regatta_mcp::{
    AppendProgress, Call, Fault, ReadMessages, Refused, SendMessage, SendSignal, TickCriterion, Tools, Which,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::watch;

/// More refused calls of one session say nothing new; they are refused all the same.
const NOTES_MAX: u32 = 100;
/// More messages of one session mean a loop, not work.
const MESSAGES_MAX: u32 = 200;
/// A longer output is read in the file of the task that it comes from.
const OUTPUT_CHARACTERS_MAX: usize = 20_000;
/// How many errors of a result an agent sees; more do not help it.
const FAULTS_MAX: usize = 20;
const KIND_DEFAULT: &str = "note";

/// The endpoint of one session.
pub(crate) struct SessionTools {
    project: Arc<Project>,
    subject: Subject,
    gets_notes: bool,
    folder: PathBuf,
    begun: Instant,
    limits: Limits,
    leaving: watch::Receiver<bool>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_over: bool,
    submitted: Option<Value>,
    used: Usage,
    notes: u32,
    messages: u32,
    /// The entry of the progress log that this session wrote; later notes are added to it.
    entry: Option<u32>,
}

impl SessionTools {
    pub(crate) fn new(opening: Opening<'_>) -> Self {
        SessionTools {
            project: Arc::clone(opening.project),
            folder: opening.project.location().private().join(opening.session.as_str()),
            subject: opening.subject,
            gets_notes: opening.gets_notes,
            begun: Instant::now(),
            limits: opening.limits.clone(),
            leaving: opening.leaving,
            state: Mutex::default(),
        }
    }

    /// Ends the session; returns the result that was submitted, once.
    pub(crate) fn end(&self) -> Option<Value> {
        let mut state = self.lock();
        state.is_over = true;
        state.submitted.take()
    }

    /// Records what the session has used so far.
    pub(crate) fn note_usage(&self, usage: Usage) {
        self.lock().used = usage;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_open(&self) -> Result<(), Error> {
        if self.lock().is_over {
            return Err(Error::SessionEnded { folder: self.folder.clone() });
        }
        Ok(())
    }

    /// Returns the task, for a verb that needs one.
    fn own_task(&self) -> Result<TaskId, Error> {
        self.subject.task.ok_or_else(|| {
            let why = "it performs a step of a run that has no task";
            let next = "what you need is in your prompt; submit your answer with `submit_result`";
            Problem::new(Code::TaskNotFound, "this session has no task", why, next).into()
        })
    }

    async fn answer_task(&self, task: TaskId) -> Result<Value, Error> {
        let task = orders::get_task(&self.project, task).await?;
        Ok(task_answer(&self.project, &self.subject, &task, self.list_collisions(&task).await))
    }

    /// Returns the work of others on the files of the task; an agent that looks in time can keep out of its way.
    async fn list_collisions(&self, task: &Task) -> Vec<Value> {
        tell::tell(&self.project, task).await.into_iter().map(collision_answer).collect()
    }

    /// Hands over the unread messages to the task, once: an agent that works does not wait for its next prompt.
    async fn hand_over_notes(&self) -> Result<Vec<Value>, Error> {
        let Some(task) = self.subject.task.filter(|_| self.gets_notes) else { return Ok(Vec::new()) };
        let unread = notes::list_unread(&self.project, task).await?;
        let ids: Vec<MessageId> = unread.iter().map(|view| view.message_id).collect();
        notes::mark_delivered(&self.project, &self.subject.caller(), task, &ids).await?;
        Ok(unread.iter().map(message_answer).collect())
    }

    async fn read_task(&self) -> Result<Value, Error> {
        let task = self.own_task()?;
        edits::refresh(&self.project, &self.subject.caller(), task).await?;
        let mut answer = self.answer_task(task).await?;
        answer["notes"] = self.hand_over_notes().await?.into();
        leave_out(&mut answer, &["notes"]);
        Ok(answer)
    }

    async fn tick(&self, tick: &TickCriterion) -> Result<Value, Error> {
        let (task, caller) = (self.own_task()?, self.subject.caller());
        let file = edits::refresh(&self.project, &caller, task).await?;
        let number = match &tick.criterion {
            Which::Index(number) => *number as usize,
            Which::Text(text) => find_criterion(&file, text)?,
        };
        edits::tick(&self.project, &caller, task, &[(number, tick.checked)]).await?;
        self.answer_task(task).await
    }

    async fn read_inputs(&self) -> Result<Value, Error> {
        let id = self.own_task()?;
        edits::refresh(&self.project, &self.subject.caller(), id).await?;
        let task = orders::get_task(&self.project, id).await?;
        let mut inputs = Vec::new();
        for note in &task.memory.inputs {
            let upstream = orders::get_task(&self.project, note.task_id).await?;
            let newest = orders::load_file(&self.project, note.task_id).await?.state.newest;
            let whole =
                newest.and_then(|version| TaskFile::parse(version.text).chain_output().map(str::to_owned));
            let cut = whole
                .as_ref()
                .and_then(|text| text.char_indices().nth(OUTPUT_CHARACTERS_MAX))
                .map(|(at, _)| at);
            let output = whole.map(|text| cut.map_or_else(|| text.clone(), |at| text[..at].to_owned()));
            inputs.push(json!({
                "taskId": note.task_id,
                "title": upstream.title,
                "summary": note.summary,
                "output": output,
                "isCut": cut.is_some(),
                "stale": note.stale,
            }));
        }
        Ok(json!({ "inputs": inputs }))
    }

    async fn read_output(&self, task: u32) -> Result<Value, Error> {
        let task = TaskId::new(task).map_err(|bad| wrong("from", &bad.to_string()))?;
        reading::output(&self.project, &self.subject.caller(), task).await
    }

    async fn read_prd(&self, slug: Option<String>) -> Result<Value, Error> {
        let slug = match slug {
            Some(slug) => slug.parse().map_err(|bad: Id| wrong("slug", &bad.to_string()))?,
            None => self.load_task().await?.prd.ok_or_else(|| filed_under_none("PRD"))?,
        };
        reading::prd(&self.project, &slug).await
    }

    async fn read_epic(&self, epic: Option<u32>) -> Result<Value, Error> {
        let epic = match epic {
            Some(epic) => EpicId::new(epic).map_err(|bad| wrong("epicId", &bad.to_string()))?,
            None => self.load_task().await?.epic.ok_or_else(|| filed_under_none("epic"))?,
        };
        reading::epic(&self.project, epic).await
    }

    async fn load_task(&self) -> Result<Task, Error> {
        orders::get_task(&self.project, self.own_task()?).await
    }

    async fn append_progress(&self, entry: AppendProgress) -> Result<Value, Error> {
        let task = self.own_task()?;
        let issues = entry.issues.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| "None".to_owned());
        let progress = Progress { did: entry.did, issues, next: entry.next };
        let own = self.lock().entry;
        let logged = edits::log_in_session(&self.project, &self.subject.caller(), task, &progress, own).await;
        let entry = logged?.sessions().last().map_or(0, |session| session.number);
        self.lock().entry = Some(entry);
        Ok(json!({ "entry": entry }))
    }

    fn draft(&self, message: SendMessage) -> Result<Draft, Error> {
        let to: Party = messages::find_party(&self.project, &message.to)?;
        let kind = message.kind.as_deref().unwrap_or(KIND_DEFAULT);
        let reply_to = message.reply_to.map(MessageId::new).transpose();
        let reply_to = reply_to.map_err(|bad| wrong("replyTo", &bad.to_string()))?;
        let run = self.subject.run.as_ref();
        let draft = Draft::new(self.subject.sender(), to, kind, message.subject, message.body);
        let draft = draft.and_then(|draft| draft.with_data(message.data.unwrap_or_default()));
        let draft = draft.map_err(orders::invalid)?;
        let item = run.and_then(|run| run.item.clone());
        Ok(draft.about(self.subject.task, run.map(|run| run.id), item).replying_to(reply_to))
    }

    /// Counts a message before it is sent, under one lock with the check of the limit: an agent may send
    /// several at once.
    fn count_message(&self) -> Result<(), Error> {
        let mut state = self.lock();
        if state.messages >= MESSAGES_MAX {
            drop(state);
            return Err(too_many("message", MESSAGES_MAX));
        }
        state.messages += 1;
        Ok(())
    }

    async fn send_message(&self, message: SendMessage) -> Result<Value, Error> {
        let draft = self.draft(message)?;
        self.count_message()?;
        let sent = self.send(draft).await;
        if sent.is_err() {
            self.lock().messages -= 1;
        }
        Ok(json!({ "messageId": sent? }))
    }

    async fn send(&self, draft: Draft) -> Result<MessageId, Error> {
        let (draft, roles) = match &self.subject.run {
            Some(run) => messages::in_run(&self.project, draft, run.id).await?,
            None => (draft, BTreeSet::new()),
        };
        messages::send(&self.project, &self.subject.caller(), draft, roles).await
    }

    async fn send_signal(&self, given: SendSignal) -> Result<Value, Error> {
        let Some(run) = &self.subject.run else {
            let what = format!("signal `{}` was not sent", given.signal);
            let why = "this session is not a step of a run";
            return Err(Problem::new(Code::Forbidden, what, why, "continue without it").into());
        };
        self.count_message()?;
        let input = (given.signal.as_str(), Value::Object(given.input));
        let (caller, from) = (self.subject.caller(), self.subject.sender());
        let sent = signals_of_runs::signal_from(&self.project, &caller, run.id, input, from).await;
        if sent.is_err() {
            self.lock().messages -= 1;
        }
        sent?;
        Ok(json!({ "runId": run.id, "signal": given.signal }))
    }

    async fn read_messages(&self, which: &ReadMessages) -> Result<Value, Error> {
        let found = messages::list_for(&self.project, &self.subject.readers()).await?;
        let is_mine = |view: &MessageView| is_for(self.subject.run.as_ref(), view);
        let wanted = found.into_iter().filter(|view| is_mine(view) && (which.include_read || !view.read));
        let wanted: Vec<MessageView> = wanted.collect();
        let more = wanted.len().saturating_sub(which.limit as usize);
        let shown: Vec<MessageView> = wanted.into_iter().take(which.limit as usize).collect();
        let (caller, by) = (self.subject.caller(), self.subject.sender());
        for of in self.subject.readers() {
            let unread: Vec<MessageId> = shown
                .iter()
                .filter(|view| view.address() == of && !view.read)
                .map(|view| view.message_id)
                .collect();
            messages::mark_read(&self.project, &caller, &of, &unread, &by).await?;
        }
        Ok(json!({ "messages": shown.iter().map(message_answer).collect::<Vec<_>>(), "more": more }))
    }

    async fn check_signals(&self) -> Result<Value, Error> {
        let (signal, reason) = match signals::find(&self.project, &self.subject).await? {
            (Signal::None, _) if self.is_leaving() => {
                (Signal::Stop, Some("the engine is about to leave".to_owned()))
            }
            found => found,
        };
        let collisions = match self.subject.task {
            Some(_) => self.list_collisions(&self.load_task().await?).await,
            None => Vec::new(),
        };
        let notes = self.hand_over_notes().await?;
        let budget_left = budget::find_left(&self.limits, &self.lock().used);
        let mut answer = json!({
            "signal": signal,
            "reason": reason,
            "secondsLeft": self.limits.wall.saturating_sub(self.begun.elapsed()).as_secs(),
            "budgetLeft": budget_left,
            "collisions": collisions,
            "notes": notes,
        });
        leave_out(&mut answer, &["collisions", "notes"]);
        Ok(answer)
    }

    async fn submit_result(&self, result: Value) -> Result<Value, Error> {
        let (bytes, bytes_max) = (result.to_string().len(), self.limits.result_bytes_max);
        if bytes > bytes_max {
            return Err(result_too_large(bytes, bytes_max));
        }
        let faults = self.judge(&result).await?;
        let is_valid = faults.as_ref().map(Vec::is_empty);
        if let Some(faults) = faults.filter(|faults| !faults.is_empty()) {
            return Err(result_faulty(faults));
        }
        let mut state = self.lock();
        // It may have ended meanwhile.
        if state.is_over {
            drop(state);
            return Err(Error::SessionEnded { folder: self.folder.clone() });
        }
        let replaced = state.submitted.replace(result).is_some();
        Ok(json!({ "isValid": is_valid, "replaced": replaced }))
    }

    async fn answer(&self, call: Call) -> Result<Value, Error> {
        self.check_open()?;
        match call {
            Call::ReadTask => self.read_task().await,
            Call::ReadInputs(which) => match which.from {
                Some(from) => self.read_output(from).await,
                None => self.read_inputs().await,
            },
            Call::ReadPrd(which) => self.read_prd(which.slug).await,
            Call::ReadEpic(which) => self.read_epic(which.epic_id).await,
            Call::ReadArchive => reading::archive(&self.project, self.own_task()?),
            Call::TickCriterion(tick) => self.tick(&tick).await,
            Call::AppendProgress(entry) => self.append_progress(entry).await,
            Call::WriteChainOutput(output) => {
                let (task, caller) = (self.own_task()?, self.subject.caller());
                let file = edits::write_output(&self.project, &caller, task, &output.text).await?;
                Ok(json!({ "summary": file.summary_of_output() }))
            }
            Call::SendMessage(message) => self.send_message(message).await,
            Call::SendSignal(given) => self.send_signal(given).await,
            Call::ReadMessages(which) => self.read_messages(&which).await,
            Call::CheckSignals => self.check_signals().await,
            Call::SubmitResult(given) => self.submit_result(given.result).await,
        }
    }

    /// Judges a result by the schema of the role, or as the report of a session for a task; nothing without either.
    async fn judge(&self, result: &Value) -> Result<Option<Vec<String>>, Error> {
        let Some(run) = &self.subject.run else { return Ok(Some(check_report(result))) };
        let definition = self.project.definitions().get(&self.project, &run.digest).await?;
        let workflow = runs::find_within(&definition, &run.within);
        let Some(role) = workflow.roles.get(&run.prompt) else { return Ok(None) };
        let faults = role.check_output(result).err().unwrap_or_default();
        Ok(Some(faults.iter().take(FAULTS_MAX).map(ToString::to_string).collect()))
    }

    /// Records what the agent asked for; tells whether it is in the log.
    pub(crate) async fn note(&self, what: String) -> bool {
        {
            let mut state = self.lock();
            if state.notes >= NOTES_MAX {
                return false;
            }
            state.notes += 1;
        }
        matches!(Worker::of(&self.subject).note_refused(&self.project, what).await, Ok(true))
    }

    fn is_leaving(&self) -> bool {
        *self.leaving.borrow()
    }
}

/// A role gets only the messages for its own run and its own item, where a message names them.
fn is_for(run: Option<&OfRun>, view: &MessageView) -> bool {
    let (Party::Role(_), Some(run)) = (&view.to, run) else { return true };
    let is_same_run = view.to_run.or(view.run_id).is_none_or(|id| id == run.id);
    is_same_run && messages::is_about(view, run.item.as_deref())
}

fn find_criterion(file: &TaskFile, text: &str) -> Result<usize, Error> {
    let is_meant = |known: &str| known.trim() == text.trim();
    let found = file.criteria().iter().position(|criterion| is_meant(&criterion.text));
    found.map(|index| index + 1).ok_or_else(|| {
        let nearest = find_nearest(text, file.criteria().iter().map(|criterion| criterion.text.as_str()));
        let next = nearest.map_or_else(
            || "name it by its number, as `read_task` shows it".to_owned(),
            |nearest| format!("did you mean `{nearest}`? Its number, as `read_task` shows it, will do"),
        );
        let why = "no criterion of the task has that text";
        Problem::new(Code::ValidationError, "no criterion was ticked", why, next).into()
    })
}

fn wrong(field: &'static str, problem: &str) -> Error {
    orders::invalid(vec![FieldFault { field, problem: format!("is wrong: {problem}") }])
}

fn filed_under_none(what: &str) -> Error {
    let (why, next) = (format!("your task belongs to no {what}"), format!("name the {what} that you want"));
    Problem::new(Code::ValidationError, format!("no {what} was read"), why, next).into()
}

fn too_many(what: &str, max: u32) -> Error {
    let why = format!("this session has already sent {max}, which is the limit");
    let next = "continue with the work; write what is left to say to the progress log";
    Problem::new(Code::Forbidden, format!("no {what} was sent"), why, next).into()
}

fn result_too_large(bytes: usize, max: usize) -> Error {
    let why = format!("it has {bytes} bytes as JSON; the limit is {max}");
    let next = "omit what can be read in the worktree, and submit it again";
    Problem::new(Code::ValidationError, "the result was not accepted", why, next).into()
}

fn result_faulty(faults: Vec<String>) -> Error {
    let next = "fix what is named above and submit it again; the session continues";
    let what = "the result was not accepted";
    Problem::new(Code::ValidationError, what, faults.join("; "), next).with("faults", faults).into()
}

impl Tools for SessionTools {
    fn task(&self) -> Option<u32> {
        self.subject.task.map(TaskId::number)
    }

    async fn call(&self, call: Call) -> Result<Value, Fault> {
        self.answer(call).await.map_err(|error| fault_from(&error.explain()))
    }

    async fn refuse(&self, refused: Refused) -> Fault {
        if let Err(over) = self.check_open() {
            return fault_from(&over.explain());
        }
        let problem = refusal_of(&self.subject, &refused);
        match note_of(&refused) {
            Some(what) => fault_from(&problem.with("recorded", self.note(what).await)),
            None => fault_from(&problem),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regatta_agents::SessionId;
    use regatta_testkit::repo::TestRepo;

    fn message(to: &str) -> SendMessage {
        serde_json::from_value(serde_json::json!({ "to": to, "body": "Hello" })).unwrap()
    }

    /// Returns the tools of a session that may send one more message.
    async fn with_one_message_left(repo: &TestRepo) -> SessionTools {
        repo.write(".regatta/config.toml", "[agents.alpha]\nkind = \"command\"\ncommand = [\"true\"]\n");
        let project = Arc::new(Project::open_own(repo.path()).await.unwrap());
        let session_tools = SessionTools::new(Opening {
            project: &project,
            session: &SessionId::new("task-1-1.a").unwrap(),
            mark: "task-1-1.",
            subject: Subject { agent: "alpha".parse().unwrap(), session: 1, task: None, run: None },
            gets_notes: true,
            limits: &Limits::default(),
            leaving: watch::channel(false).1,
        });
        session_tools.lock().messages = MESSAGES_MAX - 1;
        session_tools
    }

    #[tokio::test]
    async fn messages_that_are_sent_at_once_do_not_pass_the_limit_together() {
        let repo = TestRepo::new();
        let session_tools = with_one_message_left(&repo).await;
        let send = || session_tools.send_message(message("agent:alpha"));
        let (first, second, third) = tokio::join!(send(), send(), send());
        let sent = [&first, &second, &third].into_iter().filter(|sent| sent.is_ok()).count();
        assert_eq!(sent, 1, "{first:?} {second:?} {third:?}");
    }

    #[tokio::test]
    async fn a_message_that_is_not_sent_does_not_count() {
        let repo = TestRepo::new();
        let session_tools = with_one_message_left(&repo).await;
        session_tools.send_message(message("role:nobody")).await.unwrap_err();
        session_tools.send_message(message("agent:alpha")).await.unwrap();
    }
}
