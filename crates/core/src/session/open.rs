//! Opening a session: setting aside what it may use.
//!
//! A session that has a limit of its own sets aside just that, or what is left if it is less. One that has none sets
//! aside all that is left, and the next has to wait for it: who wants several at once limits the session.

use super::{Account, Allowance, Budget, Event, Measure, Scope, Subject};
use crate::Refusal;

/// An account that a session is charged to, in its current state.
pub type Charged<'a> = (Scope, &'a Account);

/// Opens a session, or says which budget is used up. One that is open already stays as it is.
pub fn open(
    budget: &Budget,
    accounts: &[Charged<'_>],
    subject: &Subject,
    resumes: Option<&str>,
) -> Result<Vec<Event>, Refusal> {
    if find_reserved(accounts, subject).is_some() {
        return Ok(Vec::new());
    }
    let mut reserved = budget.session;
    for (scope, account) in accounts {
        for measure in Measure::ALL {
            let Some(limit) = scope.limit(budget).get(measure) else { continue };
            let (spent, held) = (measure.of(&account.spent), account.count_held(measure));
            let left = limit.saturating_sub(spent).saturating_sub(held);
            if left == 0 {
                return Err(Refusal::BudgetExceeded { scope: *scope, measure, limit, spent, held });
            }
            reserved.cap(measure, left);
        }
    }
    let resumes = resumes.map(str::to_owned);
    Ok(vec![Event::SessionOpened { subject: subject.clone(), reserved, resumes }])
}

/// Returns what is set aside for the session, if it is open.
pub fn find_reserved(accounts: &[Charged<'_>], subject: &Subject) -> Option<Allowance> {
    accounts.iter().find_map(|(_, account)| account.held.get(&subject.session)).copied()
}
