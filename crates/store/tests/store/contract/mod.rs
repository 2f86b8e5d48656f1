//! What every store must do, as cases that any store can be held to.
//!
//! A store's tests write `contract_suite!(make)`, where `make` is an async function that returns
//! an empty store and whatever must live as long as it; each case becomes one test. A case needs nothing but the
//! trait. What is true of one database only is tested beside that database.

pub(crate) mod appending;
pub(crate) mod commands;
pub(crate) mod intents;
pub(crate) mod leases;
pub(crate) mod lists;
pub(crate) mod loading;
pub(crate) mod sample;
pub(crate) mod waiting;

/// Expands to one test for each case of the contract.
macro_rules! contract_suite {
    ($make:path) => {
        contract_cases! { $make;
            appending: an_empty_log_has_nothing, events_are_numbered_in_the_log_and_in_each_stream,
                what_was_given_comes_back, a_stale_version_is_refused_and_changes_nothing,
                a_stream_that_was_only_read_is_checked_too, an_unguarded_stream_is_refused,
                a_malformed_append_is_refused, an_append_of_nothing_returns_the_head,
                appends_at_once_leave_no_gap_and_readers_see_none;
            commands: a_repeated_command_has_one_effect, a_reused_id_is_refused,
                a_command_without_events_keeps_its_answer, a_refused_append_keeps_no_answer,
                a_repeated_command_is_answered_whatever_has_changed, a_command_sent_at_once_is_done_once;
            loading: a_stream_that_does_not_exist_is_empty, a_snapshot_shortens_the_tail,
                a_snapshot_without_events_is_of_the_stream_as_it_is, a_prefix_loads_streams_by_name,
                several_streams_load_in_the_order_asked, the_log_is_read_in_pages, a_sound_log_is_verified;
            intents: ids_are_made_from_positions, an_intent_is_settled_once, an_unknown_intent_is_refused,
                a_refused_append_settles_nothing;
            leases: a_lease_is_held_by_one, a_lease_that_ran_out_may_be_taken, a_dead_holder_may_be_replaced,
                a_holder_may_take_its_lease_again, a_lease_may_be_renewed_until_it_is_lost,
                a_lease_is_released_once, a_lost_lease_fences_appends, a_lease_may_last_for_ever;
            lists: a_list_exists_once_it_is_built, a_list_is_read_from_a_number_on_as_far_as_is_wanted,
                rows_are_written_with_their_events, a_list_of_another_format_is_built_again;
            waiting: a_wait_for_the_past_returns_at_once, a_wait_ends_with_an_append,
                a_wait_ends_at_its_limit, many_may_wait_at_once;
        }
    };
}

macro_rules! contract_cases {
    ($make:path; $($subject:ident: $($case:ident),+;)+) => { $(contract_subject! { $make; $subject: $($case),+ })+ };
}

macro_rules! contract_subject {
    ($make:path; $subject:ident: $($case:ident),+) => {
        mod $subject {
            #[allow(unused_imports)]
            use super::*;
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    let (store, _keep) = $make().await;
                    crate::contract::$subject::$case(store).await;
                }
            )+
        }
    };
}
