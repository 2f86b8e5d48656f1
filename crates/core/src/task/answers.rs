//! What an agent says to the comments with which its work was sent back.
//!
//! An answer is about the comment of that number in the last rejection. It is recorded before the session that gives it ends,
//! because a new change closes the rejection.

use super::Task;
use crate::{AgentId, Event, plain_text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// As long as a comment; the rest can be read in the diff.
const TEXT_CHARACTERS_MAX: usize = 2_000;

/// What an agent says to one comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommentAnswer {
    /// The number of the comment in its rejection, from 1.
    pub comment: u32,
    /// What the agent says.
    pub text: String,
}

/// The answers of one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommentAnswers {
    /// The agent.
    pub agent_id: AgentId,
    /// The session number within the task.
    pub session: u32,
    /// What it says, by the number of the comment.
    pub answers: Vec<CommentAnswer>,
}

/// Returns the fact that comments were answered. What is about no comment, or was said before, is left out.
pub(super) fn answered(task: &Task, given: &CommentAnswers) -> Vec<Event> {
    let Some(note) = &task.review_note else { return Vec::new() };
    let is_comment = |number: u32| (1..=note.comments.len()).contains(&(number as usize));
    let texts: BTreeMap<u32, String> = given
        .answers
        .iter()
        .filter(|answer| is_comment(answer.comment))
        .map(|answer| (answer.comment, clean(&answer.text)))
        .filter(|(comment, text)| !text.is_empty() && note.answers.get(comment) != Some(text))
        .collect();
    if texts.is_empty() {
        return Vec::new();
    }
    let answers = texts.into_iter().map(|(comment, text)| CommentAnswer { comment, text }).collect();
    let answers = CommentAnswers { agent_id: given.agent_id.clone(), session: given.session, answers };
    vec![Event::CommentsAnswered { task_id: task.id, answers }]
}

/// Folds answers into the rejection that they are about.
pub(super) fn take_answers(task: &mut Task, given: &CommentAnswers) {
    if let Some(note) = &mut task.review_note {
        note.answers.extend(given.answers.iter().map(|answer| (answer.comment, answer.text.clone())));
    }
}

fn clean(text: &str) -> String {
    let cut: String = text.trim().chars().take(TEXT_CHARACTERS_MAX).collect();
    plain_text(&cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{World, agent, id};
    use crate::{Comment, Outcome};

    /// A task that was sent back with two comments; the second session works on it.
    fn sent_back() -> World {
        let mut world = World::given("add; assign 1 alpha; settle 1; ready 1; reject 1 why; settle 1");
        let comment =
            |text: &str| Comment { path: Some("a".into()), text: text.into(), ..Comment::default() };
        let note = world.tasks.get_mut(&id(1)).unwrap().review_note.as_mut().unwrap();
        note.comments = vec![comment("One"), comment("Two")];
        world
    }

    fn answer(world: &mut World, answers: &[(u32, &str)]) -> Vec<(u32, String)> {
        let answers =
            answers.iter().map(|(comment, text)| CommentAnswer { comment: *comment, text: (*text).into() });
        let given = CommentAnswers { agent_id: agent("alpha"), session: 2, answers: answers.collect() };
        let before = world.facts.len();
        world.report(id(1), Outcome::CommentsAnswered(given));
        let known = world.tasks[&id(1)].review_note.as_ref().unwrap();
        if world.facts.len() == before { Vec::new() } else { known.answers.clone().into_iter().collect() }
    }

    #[test]
    fn an_answer_is_kept_with_its_comment() {
        let mut world = sent_back();
        let said =
            answer(&mut world, &[(2, " Done,\u{7} with a test. "), (3, "No such"), (0, "No"), (1, "  ")]);
        assert_eq!(said, [(2, "Done, with a test.".to_owned())]);
        assert_eq!(answer(&mut world, &[(2, "Done, with a test.")]), [], "a repetition adds nothing");
        let both = [(1, "Kept.".to_owned()), (2, "Done twice.".to_owned())];
        assert_eq!(answer(&mut world, &[(1, "Kept."), (2, "Done twice.")]), both);
    }

    #[test]
    fn a_long_answer_is_cut_and_one_without_a_rejection_is_none() {
        let mut world = sent_back();
        let long = answer(&mut world, &[(1, &"é".repeat(3_000))]);
        assert_eq!(long[0].1.chars().count(), 2_000);
        world.tasks.get_mut(&id(1)).unwrap().review_note = None;
        let given = CommentAnswers { agent_id: agent("alpha"), session: 2, answers: Vec::new() };
        assert_eq!(answered(&world.tasks[&id(1)], &given), []);
    }
}
