//! The commits between two others, for people: who looks at work wants titles, not trees.

use crate::error::Error;
use crate::name::CommitId;
use crate::repository::Repository;

/// A commit with its title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedCommit {
    /// The commit.
    pub id: CommitId,
    /// When it was made, in seconds since 1970 began in UTC, as its committer says.
    pub seconds: i64,
    /// The first line of its message; bytes that are no UTF-8 are shown as replacement characters.
    pub title: String,
}

impl Repository {
    /// Lists the commits that lead from one commit to another, the oldest first: the newest so many, and how many
    /// more there are.
    pub async fn list_commits(
        &self,
        base: &CommitId,
        head: &CommitId,
        count_max: usize,
    ) -> Result<(Vec<ListedCommit>, usize), Error> {
        if base == head {
            return Ok((Vec::new(), 0));
        }
        let range = format!("{base}..{head}");
        let words = ["log", "-z", "--no-color", "--no-decorate", "--no-show-signature", "--topo-order"];
        let most = format!("--max-count={}", count_max + 1);
        let listed = self.git().args(words).args(["--format=%H %ct %s", &most, &range]).success().await?;
        let lines = listed.stdout.split(|byte| *byte == 0).filter(|line| !line.is_empty());
        let mut commits = Vec::new();
        for line in lines {
            let text = String::from_utf8_lossy(line);
            let mut words = text.splitn(3, ' ');
            let id = words.next().and_then(|id| CommitId::parse(id.trim()).ok());
            let seconds = words.next().and_then(|seconds| seconds.parse().ok());
            let (Some(id), Some(seconds)) = (id, seconds) else { return Err(listed.unexpected(line)) };
            commits.push(ListedCommit { id, seconds, title: words.next().unwrap_or_default().to_owned() });
        }
        if commits.len() <= count_max {
            commits.reverse();
            return Ok((commits, 0));
        }
        let counted = self.git().args(["rev-list", "--count", &range]).text().await?;
        let all: usize = counted.trim().parse().unwrap_or(commits.len());
        commits.truncate(count_max);
        commits.reverse();
        Ok((commits, all - count_max))
    }
}
