//! Closing a session: what was set aside goes back, and what was used is counted.

use super::{Charged, Ending, Event, Subject, Usage, find_reserved};
use crate::FailureClass;

/// Closes a session that is open; closing it twice adds nothing.
pub fn close(
    accounts: &[Charged<'_>],
    subject: &Subject,
    ending: (Ending, Option<FailureClass>),
    (usage, turns): (Usage, u32),
    (agent_session, agent_session_gone): (Option<&str>, bool),
) -> Vec<Event> {
    if find_reserved(accounts, subject).is_none() {
        return Vec::new();
    }
    let (ending, class) = ending;
    let agent_session = agent_session.map(str::to_owned);
    vec![Event::SessionClosed {
        subject: subject.clone(),
        ending,
        class,
        usage,
        turns,
        agent_session,
        agent_session_gone,
    }]
}

#[cfg(test)]
mod tests {
    use super::super::{Account, Allowance, Budget, Measure, Scope, open};
    use super::*;
    use crate::testing::{agent, id};
    use crate::{Actor, Code, Fact, Refusal, RunId};
    use jiff::Timestamp;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The accounts of a project, folded as the engine does.
    #[derive(Default)]
    struct Accounts {
        accounts: BTreeMap<Scope, Account>,
    }

    impl Accounts {
        fn charged(&self, subject: &Subject) -> Vec<(Scope, Account)> {
            let find = |scope| (scope, self.accounts.get(&scope).cloned().unwrap_or_default());
            subject.scopes().into_iter().map(find).collect()
        }

        fn open(&mut self, budget: &Budget, subject: &Subject) -> Result<Allowance, Refusal> {
            let accounts = self.charged(subject);
            let events = open(budget, &borrow(&accounts), subject, None)?;
            self.fold(&events);
            Ok(find_reserved(&borrow(&self.charged(subject)), subject).unwrap())
        }

        fn close(&mut self, subject: &Subject, usage: Usage) -> usize {
            let accounts = self.charged(subject);
            let ending = (Ending::Finished, None);
            let events = close(&borrow(&accounts), subject, ending, (usage, 1), (Some("own"), false));
            self.fold(&events);
            events.len()
        }

        fn fold(&mut self, events: &[Event]) {
            for event in events {
                let text = serde_json::to_string(event).unwrap();
                assert_eq!(&serde_json::from_str::<Event>(&text).unwrap(), event, "{text}");
                let fact = Fact { at: Timestamp::UNIX_EPOCH, actor: Actor::Engine, event: event.clone() };
                for scope in event.subject().scopes() {
                    let account = self.accounts.remove(&scope).unwrap_or_default();
                    self.accounts.insert(scope, account.evolve(&fact));
                }
            }
        }
    }

    fn borrow(accounts: &[(Scope, Account)]) -> Vec<Charged<'_>> {
        accounts.iter().map(|(scope, account)| (*scope, account)).collect()
    }

    fn subject(task: u32, number: u32) -> Subject {
        Subject {
            session: format!("task-{task}-{number}"),
            agent_id: agent("alpha"),
            task_id: Some(id(task)),
            run_id: None,
            above: Vec::new(),
            role: None,
            number,
            day: jiff::civil::date(2026, 1, 1),
        }
    }

    fn tokens(count: u64) -> Allowance {
        Allowance { tokens: Some(count), ..Allowance::default() }
    }

    fn used(count: u64) -> Usage {
        Usage { input_tokens: count, ..Usage::default() }
    }

    #[test]
    fn what_one_session_holds_another_cannot_spend() {
        let budget = Budget { session: tokens(60), project: tokens(100), ..Budget::default() };
        let mut accounts = Accounts::default();
        assert_eq!(accounts.open(&budget, &subject(1, 1)), Ok(tokens(60)));
        assert_eq!(accounts.open(&budget, &subject(2, 1)), Ok(tokens(40)));
        let refused = accounts.open(&budget, &subject(3, 1)).unwrap_err();
        assert_eq!(refused.code(), Code::BudgetExceeded);
        assert_eq!(
            refused,
            Refusal::BudgetExceeded {
                scope: Scope::Project,
                measure: Measure::Tokens,
                limit: 100,
                spent: 0,
                held: 100
            }
        );
        assert_eq!(accounts.close(&subject(1, 1), used(10)), 1);
        assert_eq!(accounts.open(&budget, &subject(3, 1)), Ok(tokens(50)));
    }

    #[test]
    fn what_a_child_uses_is_used_by_the_runs_above_it() {
        let run = |number| RunId::new(number).unwrap();
        let of_run = |own, above: &[u32]| Subject {
            session: format!("run-{own}"),
            task_id: None,
            run_id: Some(run(own)),
            above: above.iter().map(|number| run(*number)).collect(),
            ..subject(1, 1)
        };
        let budget = Budget { run: tokens(100), ..Budget::default() };
        let mut accounts = Accounts::default();
        assert_eq!(accounts.open(&budget, &of_run(3, &[2, 1])), Ok(tokens(100)));
        accounts.close(&of_run(3, &[2, 1]), used(60));
        assert_eq!(accounts.open(&budget, &of_run(4, &[1])), Ok(tokens(40)));
        accounts.close(&of_run(4, &[1]), used(40));
        let refused = accounts.open(&budget, &of_run(1, &[])).unwrap_err();
        assert!(matches!(refused, Refusal::BudgetExceeded { scope: Scope::Run(of), .. } if of == run(1)));
        assert_eq!(accounts.open(&budget, &of_run(2, &[])), Ok(tokens(40)));
        let above = &accounts.accounts[&Scope::Run(run(1))].resumable;
        assert!(
            !above.contains_key(&of_run(1, &[]).conversation()),
            "{above:?} are conversations of children"
        );
        assert!(
            accounts.accounts[&Scope::Run(run(4))].resumable.contains_key(&of_run(4, &[1]).conversation())
        );
    }

    #[test]
    fn a_session_that_is_run_again_takes_the_same_reservation_and_is_counted_once() {
        let budget = Budget { task: tokens(100), ..Budget::default() };
        let mut accounts = Accounts::default();
        assert_eq!(accounts.open(&budget, &subject(1, 1)), Ok(tokens(100)));
        assert_eq!(accounts.open(&budget, &subject(1, 1)), Ok(tokens(100)));
        assert_eq!(
            (accounts.close(&subject(1, 1), used(30)), accounts.close(&subject(1, 1), used(30))),
            (1, 0)
        );
        assert_eq!(accounts.accounts[&Scope::Project].spent.tokens(), 30);
        assert_eq!(accounts.accounts[&Scope::Task(id(1))].resumable["alpha/"].name, "own");
    }

    #[test]
    fn without_limits_nothing_is_refused_and_all_is_counted() {
        let mut accounts = Accounts::default();
        for task in 1..=3 {
            assert_eq!(accounts.open(&Budget::default(), &subject(task, 1)), Ok(Allowance::default()));
            accounts.close(&subject(task, 1), Usage { cost_micros: Some(5), ..used(10) });
        }
        let spent = accounts.accounts[&Scope::Project].spent;
        assert_eq!((spent.sessions, spent.tokens(), spent.cost_micros, spent.unpriced), (3, 30, 15, 0));
    }

    #[test]
    fn a_session_is_parked_until_it_ends_or_its_work_goes_on_otherwise() {
        let moment = |second| Timestamp::from_second(second).unwrap();
        let review_note = |account: Account, second, event| {
            account.evolve(&Fact { at: moment(second), actor: Actor::Engine, event })
        };
        let subject = subject(1, 1);
        let parked = Event::SessionParked {
            subject: subject.clone(),
            class: FailureClass::RateLimit,
            attempt: 2,
            until: moment(60),
        };
        let account = review_note(Account::default(), 10, parked);
        let found = |account: &Account, last| {
            account.find_park(&subject.session, moment(last)).map(|park| (park.attempt, park.until))
        };
        assert_eq!((found(&account, 9), found(&account, 11)), (Some((2, moment(60))), None));
        assert_eq!(account.find_park("another", moment(9)), None);
        let (ending, usage) = (Ending::Failed, Usage::default());
        let closed = Event::SessionClosed {
            subject: subject.clone(),
            ending,
            class: None,
            usage,
            turns: 0,
            agent_session: None,
            agent_session_gone: false,
        };
        assert_eq!(found(&review_note(account, 20, closed), 9), None);
    }

    proptest! {
        #[test]
        fn a_budget_is_never_passed_by_sessions_that_keep_to_what_was_set_aside(
            session in prop::option::of(1u64..50),
            task in prop::option::of(1u64..80),
            project in 1u64..120,
            moves in prop::collection::vec((1u32..4, 1u32..4, any::<bool>(), 0u64..100), 0..60),
        ) {
            let allow = |limit: Option<u64>| Allowance { tokens: limit, ..Allowance::default() };
            let budget = Budget {
                session: allow(session), task: allow(task), project: tokens(project), ..Budget::default()
            };
            let mut accounts = Accounts::default();
            for (task_number, number, is_open, percent) in moves {
                let subject = subject(task_number, number);
                if is_open {
                    let _ = accounts.open(&budget, &subject);
                } else if let Some(reserved) = find_reserved(&borrow(&accounts.charged(&subject)), &subject) {
                    accounts.close(&subject, used(reserved.tokens.unwrap() * percent / 100));
                }
                for (scope, account) in &accounts.accounts {
                    let sum = account.spent.tokens() + account.count_held(Measure::Tokens);
                    let limit = scope.limit(&budget).tokens.unwrap_or(u64::MAX);
                    prop_assert!(sum <= limit, "{scope}: {sum} of {limit}");
                }
            }
        }
    }
}
