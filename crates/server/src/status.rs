//! The one table from error codes to HTTP statuses.

use http::StatusCode;
use regatta_engine::core::Code;
use std::collections::BTreeMap;

/// Returns the status of a response with this code.
pub fn status_of(code: Code) -> StatusCode {
    match code {
        Code::Unauthorized => StatusCode::UNAUTHORIZED,
        Code::ApproverNotAllowed | Code::Forbidden | Code::OriginRefused | Code::ProjectNotTrusted => {
            StatusCode::FORBIDDEN
        }
        Code::AgentNotFound
        | Code::BaseNotFound
        | Code::EpicNotFound
        | Code::PrdNotFound
        | Code::ProjectNotFound
        | Code::QuestionNotFound
        | Code::RouteNotFound
        | Code::RunNotFound
        | Code::SalvageNotFound
        | Code::SessionNotFound
        | Code::SignalNotFound
        | Code::TaskNotFound
        | Code::WorkflowNotFound => StatusCode::NOT_FOUND,
        Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Code::AgentAlreadyRunning
        | Code::ApprovalStale
        | Code::BranchInvalid
        | Code::CheckoutInTheWay
        | Code::CommandReused
        | Code::DependencyCycle
        | Code::EditConflict
        | Code::EditRefused
        | Code::EngineAlreadyRunning
        | Code::FileTaken
        | Code::PrdExists
        | Code::ProjectExists
        | Code::RunInvalidTransition
        | Code::SessionEnded
        | Code::SignalRefused
        | Code::StateExists
        | Code::SubmoduleChanged
        | Code::TaskBlocked
        | Code::TaskInvalidTransition
        | Code::TaskNoDiff
        | Code::TaskNotWhole
        | Code::UnrelatedHistory
        | Code::WorktreeDirty
        | Code::WorktreeMergeConflict
        | Code::WorktreeMissing => StatusCode::CONFLICT,
        Code::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
        Code::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::MediaTypeUnsupported => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Code::ConfigInvalid
        | Code::EdgeEvaluationFailed
        | Code::ExportForeign
        | Code::ExportInvalid
        | Code::ImportUnknown
        | Code::ExprFailed
        | Code::ExprLimit
        | Code::StateInvalid
        | Code::TapeBaseDiffers
        | Code::ValidationError
        | Code::WorkflowInvalid => StatusCode::UNPROCESSABLE_ENTITY,
        Code::StateInUse | Code::TaskBusy => StatusCode::LOCKED,
        Code::BudgetExceeded | Code::ConcurrencyLimitExceeded | Code::RateLimited => {
            StatusCode::TOO_MANY_REQUESTS
        }
        Code::ServerNotRunning | Code::TooManyConnections => StatusCode::SERVICE_UNAVAILABLE,
        Code::WaitTimedOut => StatusCode::GATEWAY_TIMEOUT,
        // What went wrong with a task or a run is a field of the object, and no error of the request that reads it.
        Code::AgentOutputInvalid
        | Code::AgentSessionFailed
        | Code::AgentStartFailed
        | Code::AgentStopFailed
        | Code::ChecksFailed
        | Code::FileInvalid
        | Code::FileValueFailed
        | Code::MaxIterationsExceeded
        | Code::RunFailed
        | Code::RunStalled
        | Code::RunStopped
        | Code::TaskCancelled
        | Code::TaskNotSubmitted
        | Code::WorktreeCreationFailed
        | Code::WorktreeRemovalFailed => StatusCode::CONFLICT,
        Code::GitFailed
        | Code::GitUnusable
        | Code::Internal
        | Code::IoFailed
        | Code::LogUnsound
        | Code::NotARepository
        | Code::SchemaTooNew
        | Code::StateCorrupt
        | Code::StoreFailed => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Returns every status of an error, with the codes that have it.
pub(crate) fn list_statuses() -> BTreeMap<u16, Vec<Code>> {
    let mut statuses: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in Code::ALL {
        statuses.entry(status_of(*code).as_u16()).or_default().push(*code);
    }
    statuses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_status_of_an_error() {
        for code in Code::ALL {
            assert!(status_of(*code).is_client_error() || status_of(*code).is_server_error(), "{code}");
        }
    }
}
