//! A panic in a handler ends its request, and nothing else.

use uuid::Uuid;

tokio::task_local! {
    static REQUEST: Uuid;
}

/// For the panic hook of the process: returns the ID of the request that panics, or nothing if it is none of ours.
pub fn find_request() -> Option<Uuid> {
    REQUEST.try_with(|id| *id).ok()
}

/// Runs a handler in a task of its own; the error is the ID that the log has beside the panic.
///
/// So a change goes through even if its client is gone by then.
pub(crate) async fn contain<T: Send + 'static>(
    handler: impl Future<Output = T> + Send + 'static,
) -> Result<T, Uuid> {
    let id = Uuid::now_v7();
    tokio::spawn(REQUEST.scope(id, handler)).await.map_err(|_| id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_id_and_the_rest_is_passed_on() {
        assert_eq!(contain(async { find_request().is_some() }).await, Ok(true));
        assert!(find_request().is_none(), "this is no request");
        let panicked = contain(async {
            if find_request().is_some() {
                panic!("on purpose");
            }
        });
        assert!(panicked.await.is_err());
    }
}
