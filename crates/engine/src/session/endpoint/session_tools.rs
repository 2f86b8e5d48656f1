//! Answers the tool calls of one session, in the name of its agent.
//!
//! Edits of the task are edits of its file, made by the keeper; messages and notes are commands. The session_tools
//! itself keeps only the submitted result and its counters.

use crate::commands::messages::{self, MessageView};
use crate::commands::{notes, orders};
use crate::core::message::{Draft, Party};
use crate::core::{Code, EpicId, Id, MessageId, Problem, TaskId, find_nearest};
use crate::error::Error;
use crate::project::Project;
use crate::runs;
use crate::session::endpoint::answers::{
    fault_from, fault_of, message_answer, note_of, refusal_of, task_answer,
};
use crate::session::endpoint::{OfRun, Subject};
use crate::session::endpoint::{Opening, budget, signals};
use crate::session::worker::Worker;
use crate::task_files::edits::{self, Progress};
use crate::view::reading;
use regatta_agents::{Limits, Usage, check_report};
use regatta_files::TaskFile;
use regatta_mcp::{
    AppendProgress, Fault, InputAnswer, InputsAnswer, MessageAnswer, MessagesAnswer, OutputAnswer,
    ProgressAnswer, ReadMessages, Refused, ResultAnswer, SendMessage, SentAnswer, Signal, SignalsAnswer,
    TaskAnswer, TickCriterion, Tools, Which,
};
use serde_json::Value;
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

    fn check_open(&self) -> Result<(), Fault> {
        if self.lock().is_over {
            return Err(fault_of(&Error::SessionEnded { folder: self.folder.clone() }));
        }
        Ok(())
    }

    /// Returns the task, for a verb that needs one.
    fn own_task(&self) -> Result<TaskId, Fault> {
        self.check_open()?;
        self.subject.task.ok_or_else(|| {
            fault_from(&Problem::new(
                Code::TaskNotFound,
                "this session has no task",
                "it performs a step of a run that has no task",
                "what you need is in your prompt; submit your answer with `submit_result`",
            ))
        })
    }

    async fn answer_task(&self, task: TaskId) -> Result<TaskAnswer, Error> {
        let task = orders::get_task(&self.project, task).await?;
        Ok(task_answer(&self.project, &self.subject, &task))
    }

    /// Hands over the unread messages to the task, once: an agent that works does not wait for its next prompt.
    async fn hand_over_notes(&self) -> Result<Vec<MessageAnswer>, Error> {
        let Some(task) = self.subject.task.filter(|_| self.gets_notes) else { return Ok(Vec::new()) };
        let unread = notes::list_unread(&self.project, task).await?;
        let ids: Vec<MessageId> = unread.iter().map(|view| view.message_id).collect();
        notes::mark_delivered(&self.project, &self.subject.caller(), task, &ids).await?;
        Ok(unread.into_iter().map(message_answer).collect())
    }

    async fn tick(&self, task: TaskId, tick: &TickCriterion) -> Result<TaskAnswer, Fault> {
        let caller = self.subject.caller();
        let file = edits::refresh(&self.project, &caller, task).await.map_err(|error| fault_of(&error))?;
        let number = match &tick.criterion {
            Which::Index(number) => *number as usize,
            Which::Text(text) => find_criterion(&file, text)?,
        };
        let ticked = edits::tick(&self.project, &caller, task, &[(number, tick.checked)]).await;
        ticked.map_err(|error| fault_of(&error))?;
        self.answer_task(task).await.map_err(|error| fault_of(&error))
    }

    async fn inputs(&self, id: TaskId) -> Result<InputsAnswer, Error> {
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
            inputs.push(InputAnswer {
                task_id: note.task_id.number(),
                title: upstream.title,
                summary: note.summary.clone(),
                output,
                is_cut: cut.is_some(),
                stale: note.stale,
            });
        }
        Ok(InputsAnswer { inputs })
    }

    fn draft(&self, message: SendMessage) -> Result<Draft, Error> {
        let to: Party = messages::find_party(&self.project, &message.to)?;
        let kind = message.kind.as_deref().unwrap_or(KIND_DEFAULT);
        let reply_to = message.reply_to.map(MessageId::new).transpose().map_err(|bad| {
            orders::invalid(vec![crate::core::FieldFault {
                field: "replyTo",
                problem: format!("is wrong: {bad}"),
            }])
        })?;
        let run = self.subject.run.as_ref();
        let draft = Draft::new(self.subject.sender(), to, kind, message.subject, message.body);
        let draft = draft.and_then(|draft| draft.with_data(message.data.unwrap_or_default()));
        let draft = draft.map_err(orders::invalid)?;
        let item = run.and_then(|run| run.item.clone());
        Ok(draft.about(self.subject.task, run.map(|run| run.id), item).replying_to(reply_to))
    }

    /// Counts a message before it is sent, under one lock with the check of the limit: an agent may send
    /// several at once.
    fn count_message(&self) -> Result<(), Fault> {
        let mut state = self.lock();
        if state.messages >= MESSAGES_MAX {
            drop(state);
            return Err(too_many("message", MESSAGES_MAX));
        }
        state.messages += 1;
        Ok(())
    }

    async fn send(&self, draft: Draft) -> Result<MessageId, Error> {
        let roles = self.roles_of_run().await?;
        messages::send(&self.project, &self.subject.caller(), draft, roles).await
    }

    /// Returns the roles of the run that the session is part of.
    async fn roles_of_run(&self) -> Result<BTreeSet<String>, Error> {
        let Some(run) = &self.subject.run else { return Ok(BTreeSet::new()) };
        let definition = self.project.definitions().get(&self.project, &run.digest).await?;
        let mut roles: BTreeSet<String> = definition.roles.keys().cloned().collect();
        roles.extend(runs::find_within(&definition, &run.within).roles.keys().cloned());
        Ok(roles)
    }

    async fn messages(&self, which: &ReadMessages) -> Result<MessagesAnswer, Error> {
        let found = messages::list_for(&self.project, &self.subject.readers()).await?;
        let is_mine = |view: &MessageView| is_for(self.subject.run.as_ref(), view);
        let wanted = found.into_iter().filter(|view| is_mine(view) && (which.include_read || !view.read));
        let wanted: Vec<MessageView> = wanted.collect();
        let more = wanted.len().saturating_sub(which.limit as usize);
        let shown: Vec<MessageView> = wanted.into_iter().take(which.limit as usize).collect();
        let (caller, by) = (self.subject.caller(), self.subject.sender());
        for of in self.subject.readers() {
            let unread: Vec<MessageId> =
                shown.iter().filter(|view| view.to == of && !view.read).map(|view| view.message_id).collect();
            messages::mark_read(&self.project, &caller, &of, &unread, &by).await?;
        }
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        Ok(MessagesAnswer { messages: shown.into_iter().map(message_answer).collect(), more })
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
    let is_same_run = view.run_id.is_none_or(|id| id == run.id);
    let is_same_item = view.item.is_none() || run.item.is_none() || view.item == run.item;
    is_same_run && is_same_item
}

fn find_criterion(file: &TaskFile, text: &str) -> Result<usize, Fault> {
    let is_meant = |known: &str| known.trim() == text.trim();
    let found = file.criteria().iter().position(|criterion| is_meant(&criterion.text));
    found.map(|index| index + 1).ok_or_else(|| {
        let nearest = find_nearest(text, file.criteria().iter().map(|criterion| criterion.text.as_str()));
        let next = nearest.map_or_else(
            || "name it by its number, as `read_task` shows it".to_owned(),
            |nearest| format!("did you mean `{nearest}`? Its number, as `read_task` shows it, will do"),
        );
        let why = "no criterion of the task has that text";
        fault_from(&Problem::new(Code::ValidationError, "no criterion was ticked", why, next))
    })
}

fn wrong(field: &'static str, problem: &str) -> Fault {
    let problem = format!("is wrong: {problem}");
    fault_of(&orders::invalid(vec![crate::core::FieldFault { field, problem }]))
}

fn filed_under_none(what: &str) -> Fault {
    fault_from(&Problem::new(
        Code::ValidationError,
        format!("no {what} was read"),
        format!("your task belongs to no {what}"),
        format!("name the {what} that you want"),
    ))
}

fn too_many(what: &str, max: u32) -> Fault {
    let why = format!("this session has already sent {max}, which is the limit");
    let next = "continue with the work; write what is left to say to the progress log";
    fault_from(&Problem::new(Code::Forbidden, format!("no {what} was sent"), why, next))
}

fn result_too_large(bytes: usize, max: usize) -> Fault {
    let why = format!("it has {bytes} bytes as JSON; the limit is {max}");
    let next = "omit what can be read in the worktree, and submit it again";
    fault_from(&Problem::new(Code::ValidationError, "the result was not accepted", why, next))
}

fn result_faulty(faults: Vec<String>) -> Fault {
    let next = "fix what is named above and submit it again; the session continues";
    let what = "the result was not accepted";
    fault_from(&Problem::new(Code::ValidationError, what, faults.join("; "), next).with("faults", faults))
}

impl Tools for SessionTools {
    fn task(&self) -> Option<u32> {
        self.subject.task.map(TaskId::number)
    }

    async fn read_task(&self) -> Result<TaskAnswer, Fault> {
        let task = self.own_task()?;
        let caller = self.subject.caller();
        edits::refresh(&self.project, &caller, task).await.map_err(|error| fault_of(&error))?;
        let answer = self.answer_task(task).await.map_err(|error| fault_of(&error))?;
        let notes = self.hand_over_notes().await.map_err(|error| fault_of(&error))?;
        Ok(TaskAnswer { notes, ..answer })
    }

    async fn read_inputs(&self) -> Result<InputsAnswer, Fault> {
        let task = self.own_task()?;
        self.inputs(task).await.map_err(|error| fault_of(&error))
    }

    async fn read_output(&self, task: u32) -> Result<Value, Fault> {
        self.check_open()?;
        let task = TaskId::new(task).map_err(|bad| wrong("from", &bad.to_string()))?;
        reading::output(&self.project, &self.subject.caller(), task).await.map_err(|error| fault_of(&error))
    }

    async fn read_prd(&self, slug: Option<String>) -> Result<Value, Fault> {
        self.check_open()?;
        let slug = match slug {
            Some(slug) => slug.parse().map_err(|bad: Id| wrong("slug", &bad.to_string()))?,
            None => {
                let task = self.own_task()?;
                let task = orders::get_task(&self.project, task).await.map_err(|error| fault_of(&error))?;
                task.prd.ok_or_else(|| filed_under_none("PRD"))?
            }
        };
        reading::prd(&self.project, &slug).await.map_err(|error| fault_of(&error))
    }

    async fn read_epic(&self, epic: Option<u32>) -> Result<Value, Fault> {
        self.check_open()?;
        let epic = match epic {
            Some(epic) => EpicId::new(epic).map_err(|bad| wrong("epicId", &bad.to_string()))?,
            None => {
                let task = self.own_task()?;
                let task = orders::get_task(&self.project, task).await.map_err(|error| fault_of(&error))?;
                task.epic.ok_or_else(|| filed_under_none("epic"))?
            }
        };
        reading::epic(&self.project, epic).await.map_err(|error| fault_of(&error))
    }

    async fn read_archive(&self) -> Result<Value, Fault> {
        let task = self.own_task()?;
        reading::archive(&self.project, task).map_err(|error| fault_of(&error))
    }

    async fn tick_criterion(&self, tick: TickCriterion) -> Result<TaskAnswer, Fault> {
        let task = self.own_task()?;
        self.tick(task, &tick).await
    }

    async fn append_progress(&self, entry: AppendProgress) -> Result<ProgressAnswer, Fault> {
        let task = self.own_task()?;
        let issues = entry.issues.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| "None".to_owned());
        let progress = Progress { did: entry.did, issues, next: entry.next };
        let own = self.lock().entry;
        let logged = edits::log_in_session(&self.project, &self.subject.caller(), task, &progress, own).await;
        let file = logged.map_err(|error| fault_of(&error))?;
        let entry = file.sessions().last().map_or(0, |session| session.number);
        self.lock().entry = Some(entry);
        Ok(ProgressAnswer { entry })
    }

    async fn write_chain_output(&self, text: String) -> Result<OutputAnswer, Fault> {
        let task = self.own_task()?;
        let written = edits::write_output(&self.project, &self.subject.caller(), task, &text).await;
        let file = written.map_err(|error| fault_of(&error))?;
        Ok(OutputAnswer { summary: file.summary_of_output().map(str::to_owned) })
    }

    async fn send_message(&self, message: SendMessage) -> Result<SentAnswer, Fault> {
        self.check_open()?;
        let draft = self.draft(message).map_err(|error| fault_of(&error))?;
        self.count_message()?;
        let sent = self.send(draft).await;
        if sent.is_err() {
            self.lock().messages -= 1;
        }
        let id = sent.map_err(|error| fault_of(&error))?;
        Ok(SentAnswer { message_id: id.number() })
    }

    async fn read_messages(&self, which: ReadMessages) -> Result<MessagesAnswer, Fault> {
        self.check_open()?;
        self.messages(&which).await.map_err(|error| fault_of(&error))
    }

    async fn check_signals(&self) -> Result<SignalsAnswer, Fault> {
        self.check_open()?;
        let found = signals::find(&self.project, &self.subject).await.map_err(|error| fault_of(&error))?;
        let (signal, reason) = match found {
            (Signal::None, _) if self.is_leaving() => {
                (Signal::Stop, Some("the engine is about to leave".to_owned()))
            }
            found => found,
        };
        let seconds_left = Some(self.limits.wall.saturating_sub(self.begun.elapsed()).as_secs());
        let budget_left = budget::find_left(&self.limits, &self.lock().used);
        let notes = self.hand_over_notes().await.map_err(|error| fault_of(&error))?;
        Ok(SignalsAnswer { signal, reason, seconds_left, budget_left, notes })
    }

    async fn submit_result(&self, result: Value) -> Result<ResultAnswer, Fault> {
        self.check_open()?;
        let bytes = result.to_string().len();
        let bytes_max = self.limits.result_bytes_max;
        if bytes > bytes_max {
            return Err(result_too_large(bytes, bytes_max));
        }
        let faults = self.judge(&result).await.map_err(|error| fault_of(&error))?;
        let is_valid = faults.as_ref().map(Vec::is_empty);
        if let Some(faults) = faults.filter(|faults| !faults.is_empty()) {
            return Err(result_faulty(faults));
        }
        let mut state = self.lock();
        if state.is_over {
            drop(state);
            return Err(fault_of(&Error::SessionEnded { folder: self.folder.clone() }));
        }
        let replaced = state.submitted.replace(result).is_some();
        Ok(ResultAnswer { is_valid, replaced })
    }

    async fn refuse(&self, refused: Refused) -> Fault {
        if let Err(over) = self.check_open() {
            return over;
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
