//! One file per verb: its arguments, its help and its code.

/// Declares a group of verbs, each with the module of its type and the help of that type, and runs the one that was given.
macro_rules! group {
    ($(#[$attribute:meta])* $group:ident { $($verb:ident in $module:ident),* $(,)? }) => {
        $(#[$attribute])*
        #[derive(clap::Subcommand)]
        #[command(defer = true)]
        pub(crate) enum $group {
            $($verb($module::$verb)),*
        }

        impl $group {
            pub(crate) async fn run(self, place: &$crate::arguments::Place) -> Result<Exit, Problem> {
                match self {
                    $($group::$verb(verb) => verb.run(place).await),*
                }
            }
        }
    };
}

pub(crate) mod agent;
mod asked;
mod browser;
pub(crate) mod completions;
pub(crate) mod cost;
pub(crate) mod demo;
mod demo_cycle;
mod demo_workflow;
pub(crate) mod doctor;
pub(crate) mod epic;
pub(crate) mod eval;
pub(crate) mod events;
mod follow;
pub(crate) mod init;
pub(crate) mod machine;
pub(crate) mod mcp;
pub(crate) mod messages;
mod person;
pub(crate) mod prd;
pub(crate) mod run;
pub(crate) mod session_log;
pub(crate) mod skill;
pub(crate) mod state;
mod state_file;
pub(crate) mod state_prune;
mod state_rebuild;
mod state_takeover;
mod state_validate;
pub(crate) mod task;
mod text_file;
pub(crate) mod token;
pub(crate) mod trust;
pub(crate) mod up;
mod up_log;
pub(crate) mod url;
pub(crate) mod workflow;
