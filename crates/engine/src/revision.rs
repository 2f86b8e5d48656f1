//! An order to edit a task, as a change of its file and the news of it. Pure.

use crate::core::{Criterion, Filed, News, Revise, Task};
use crate::error::Error;
use crate::keeper;
use regatta_files::{NewCriterion, TaskFile};

/// Applies what was ordered to the file; what the task says already is no news.
pub(crate) fn apply(task: &Task, revise: &Revise, file: &TaskFile) -> Result<(TaskFile, Vec<News>), Error> {
    let failed = |error| Error::FileEdit { task: task.id, error };
    let mut changed = file.clone();
    let title = revise.title.clone().filter(|title| *title != task.title);
    if let Some(title) = &title {
        changed = changed.with_title(title).map_err(failed)?;
    }
    let mut description = revise.description.clone().filter(|text| *text != task.description);
    if let Some(text) = &description {
        changed = changed.with_requirements(text).map_err(failed)?;
        // As the file has it: headings are deepened there.
        description = Some(changed.requirements().unwrap_or_default().to_owned());
    }
    let before_criteria = changed.clone();
    if let Some(criteria) = &revise.criteria {
        let criteria: Vec<NewCriterion> = criteria.iter().map(|text| new_criterion(text)).collect();
        changed = changed.with_criteria(&criteria).map_err(failed)?;
    }
    let priority = revise.priority.filter(|priority| *priority != task.priority);
    let mut news = Vec::new();
    let filed = filed(task, revise);
    if title.is_some() || description.is_some() || priority.is_some() || filed.is_some() {
        news.push(News::Edited { title, description, priority, filed });
    } else if changed.text() != file.text() {
        // Criteria alone: the order is still one to edit, which may be refused.
        news.push(News::Edited { title: None, description: None, priority: None, filed: None });
    }
    news.extend(keeper::news_between(&before_criteria, &changed));
    Ok((changed, news))
}

fn new_criterion(text: &str) -> NewCriterion {
    let Criterion { text, check, .. } = Criterion::parse(text);
    NewCriterion { text, checked: false, check }
}

/// Without a PRD of its own, a task gets that of its epic only when it is created; here both are as they are ordered.
fn filed(task: &Task, revise: &Revise) -> Option<Filed> {
    let epic_id = revise.epic.unwrap_or(task.epic);
    let prd = revise.prd.clone().unwrap_or_else(|| task.prd.clone());
    (epic_id != task.epic || prd != task.prd).then_some(Filed { epic_id, prd })
}
