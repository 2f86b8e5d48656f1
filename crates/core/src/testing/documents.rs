//! One sample of every event of epics and PRDs, and the rules about them driven by lines of text.

use super::script::{lines, render_refusal};
use super::user;
use crate::document::{
    AddEpic, AddPrd, Catalogue, ChangeEpic, ChangePrd, Command, Epic, Event, Prd, Situation, decide,
};
use crate::{EpicId, Fact, PrdSlug};
use expect_test::Expect;
use jiff::Timestamp;
use std::collections::BTreeMap;

/// One of each kind of event, in the order of [`Event::KINDS`].
pub(crate) fn document_samples() -> Vec<Event> {
    let epic_id = EpicId::new(3).unwrap();
    let slug: PrdSlug = "user-auth".parse().unwrap();
    let (title, prd) = ("Login".to_owned(), Some(slug.clone()));
    let changed = "# User auth\n\nMore.\n".to_owned();
    vec![
        Event::EpicAdded { epic_id, title: title.clone(), description: String::new(), prd: None },
        Event::EpicChanged { epic_id, title, description: "All of it".to_owned(), prd },
        Event::PrdAdded {
            slug: slug.clone(),
            title: "User auth".to_owned(),
            text: "# User auth\n".to_owned(),
        },
        Event::PrdChanged { slug, title: "User auth".to_owned(), text: changed },
    ]
}

/// The samples as facts, a second apart.
pub(crate) fn document_facts() -> Vec<Fact<Event>> {
    let at = |second: usize| Timestamp::from_second(second as i64).unwrap();
    let fact = |(second, event)| Fact { at: at(second), actor: user(), event };
    document_samples().into_iter().enumerate().map(fact).collect()
}

/// Epics and PRDs as folded so far.
#[derive(Default)]
struct Shelf {
    catalogue: Catalogue,
    epics: BTreeMap<EpicId, Epic>,
    prds: BTreeMap<PrdSlug, Prd>,
    seconds: i64,
}

/// Carries out `given` in silence, where nothing may be refused, then compares what comes of `when`.
///
/// ```text
/// add prd SLUG [title WORD] [text WORD]       change prd SLUG [title WORD] [text WORD]
/// add epic TITLE [about WORD] [prd SLUG]      change epic N [title WORD] [about WORD|-] [prd SLUG|none]
/// ```
pub(crate) fn check_documents(given: &str, when: &str, expect: Expect) {
    let mut shelf = Shelf::default();
    for line in lines(given) {
        let said = shelf.line(line);
        assert!(!said.contains("error["), "`{line}` is not given: {said}");
    }
    let text: String = lines(when).map(|line| format!("> {line}\n{}", shelf.line(line))).collect();
    expect.assert_eq(&text);
}

impl Shelf {
    fn line(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        let command = parse(&words);
        let (epic, prd) = match &command {
            Command::ChangeEpic(change) => (self.epics.get(&change.epic()), None),
            Command::ChangePrd(change) => (None, self.prds.get(change.slug())),
            Command::AddEpic(_) | Command::AddPrd(_) => (None, None),
        };
        match decide(&Situation { catalogue: &self.catalogue, epic, prd }, &command) {
            Ok(events) if events.is_empty() => "nothing\n".to_owned(),
            Ok(events) => events.iter().map(|event| self.append(event)).collect(),
            Err(refusal) => render_refusal(&refusal),
        }
    }

    fn append(&mut self, event: &Event) -> String {
        self.seconds += 1;
        let at = Timestamp::from_second(self.seconds).unwrap();
        let fact = Fact { at, actor: user(), event: event.clone() };
        self.catalogue = std::mem::take(&mut self.catalogue).evolve(&fact);
        if let Some(id) = event.find_epic() {
            let epic = Epic::evolve(self.epics.remove(&id), &fact).expect("an epic that exists");
            let Epic { title, description, prd, .. } = epic.clone();
            self.epics.insert(id, epic);
            let prd = prd.map_or_else(|| "nothing".to_owned(), |prd| prd.to_string());
            return format!("[{}]\nepic {id} {title} about {description:?} for {prd}\n", event.kind());
        }
        let slug = event.find_prd().expect("it is of a PRD");
        let prd = Prd::evolve(self.prds.remove(slug), &fact).expect("a PRD that exists");
        let Prd { title, text, .. } = prd.clone();
        self.prds.insert(slug.clone(), prd);
        format!("[{}]\nPRD {slug} {title} {text:?}\n", event.kind())
    }
}

fn parse(words: &[&str]) -> Command {
    let after = |name: &str| words.iter().skip(3).position(|word| *word == name).map(|at| words[at + 4]);
    let owned =
        |name: &str| after(name).map(|word| if word == "-" { String::new() } else { word.to_owned() });
    let slug = |word: &str| word.parse::<PrdSlug>().unwrap();
    match words[..3] {
        ["add", "prd", name] => {
            let (title, text) = (after("title").unwrap_or("A-PRD"), after("text").unwrap_or("text"));
            Command::AddPrd(AddPrd::new(name, title, text.to_owned()).unwrap())
        }
        ["change", "prd", name] => {
            Command::ChangePrd(ChangePrd::new(slug(name), owned("title"), owned("text")).unwrap())
        }
        ["add", "epic", title] => {
            let about = owned("about").unwrap_or_default();
            Command::AddEpic(AddEpic::new(title, about, after("prd").map(slug)).unwrap())
        }
        ["change", "epic", number] => {
            let prd = after("prd").map(|word| (word != "none").then(|| slug(word)));
            let id = number.parse().unwrap();
            Command::ChangeEpic(ChangeEpic::new(id, owned("title"), owned("about"), prd).unwrap())
        }
        _ => panic!("{words:?} is not a line of a script"),
    }
}
