//! Chooses the model of a session, in whichever of two ways the agent offers it.
//!
//! The protocol has an option for it. Before that there was a request of its own, `session/set_model`, which the protocol's
//! crate no longer knows and gemini offers alone; so its few fields are written down here. Pure.

use agent_client_protocol::v1::schema::{
    RawValue, SessionConfigOption, SessionConfigOptionCategory, SessionId, SetSessionConfigOptionRequest,
};
use agent_client_protocol::{JsonRpcMessage as _, UntypedMessage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::wire;

/// The request that the crate does not know.
const SET_MODEL: &str = "session/set_model";

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SetModelRequest<'a> {
    session_id: &'a SessionId,
    model_id: &'a str,
}

/// What an agent that offers models in the old way says of a session.
#[derive(Debug, Deserialize)]
struct OldOffer {
    models: Map<String, Value>,
}

/// Returns the request that chooses a model; nothing if the agent offers no way. `answer` is the one that opened the session.
pub(crate) fn choose(
    model: &str,
    session_id: &SessionId,
    options: Option<&[SessionConfigOption]>,
    answer: &RawValue,
) -> Option<UntypedMessage> {
    let is_model = |option: &&SessionConfigOption| {
        option.category == Some(SessionConfigOptionCategory::Model) || &*option.id.0 == "model"
    };
    if let Some(option) = options.unwrap_or_default().iter().find(is_model) {
        let request = SetSessionConfigOptionRequest::new(session_id.clone(), option.id.clone(), model);
        return request.to_untyped_message().ok();
    }
    wire::read::<OldOffer>(answer).ok().filter(|offer| !offer.models.is_empty())?;
    UntypedMessage::new(SET_MODEL, SetModelRequest { session_id, model_id: model }).ok()
}
