//! `regatta run signal`.

use super::flags;
use super::input::{Given, parse_given, read_given};
use super::show::print_brief;
use crate::arguments::Place;
use crate::exit::{self, Exit};
use crate::verb::follow::WaitOptions;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use regatta_engine::core::{Problem, RunId};
use regatta_engine::{Error, runs};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Send a signal to a run
///
/// A run that is under way takes it in without being interrupted. A run that has ended continues, if the workflow says
/// where, and is followed. `regatta run show ID` lists the signals that a run takes now, with their
/// flags.
#[derive(Args)]
pub(crate) struct Signal {
    /// Run number.
    #[arg(value_name = "ID")]
    run: RunId,
    /// Signal name.
    #[arg(value_name = "SIGNAL")]
    signal: String,
    /// Input of the signal: a JSON object, or `@FILE` to read it from a file.
    #[arg(long, value_name = "JSON|@FILE", value_parser = parse_given)]
    input: Option<Given>,
    /// Fields of the input, with a flag for each property of its schema, such as `--text TEXT`.
    #[arg(value_name = "FLAGS", trailing_var_arg = true, allow_hyphen_values = true)]
    fields: Vec<String>,
    #[command(flatten)]
    options: WaitOptions,
}

/// What the words after the signal say.
struct Later {
    input: Option<Given>,
    options: WaitOptions,
    fields: Map<String, Value>,
}

impl Signal {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = Arc::new(place.open().await?);
        let explain = |error: Error| error.explain();
        let schema = runs::find_signal_schema(&project, self.run, &self.signal).await.map_err(explain)?;
        let later = match self.read_later(&schema) {
            Ok(later) => later,
            Err(error) => {
                let is_wrong = error.use_stderr();
                exit::wrong_usage(&error);
                return Ok(if is_wrong { Exit::Usage } else { Exit::Done });
            }
        };
        let given = later.input.as_ref().or(self.input.as_ref());
        let mut input = given.map(|given| read_given(place, given)).transpose()?.unwrap_or_default();
        input.extend(later.fields);
        let (run, options) = (self.run, self.options.or(later.options));
        let signal = async |project: &_, caller: &_| {
            runs::signal(project, caller, run, &self.signal, Value::Object(input)).await.map(|()| run)
        };
        if runs::get_run(&project, run).await.map_err(explain)?.is_over() {
            let title = format!("run {run} continues");
            return options.carry_out_run(place, project, Some(run), &title, signal).await;
        }
        signal(&project, &options.caller()).await.map_err(explain)?;
        print_brief(place, &project, run).await
    }

    /// Returns the words after the signal.
    pub(super) fn last_words(&self) -> &[String] {
        &self.fields
    }

    /// Reads the words after the signal: flags that its schema makes, and those of every signal.
    fn read_later(&self, schema: &Value) -> Result<Later, clap::Error> {
        let name = format!("regatta run signal {} {}", self.run, self.signal);
        let input = Arg::new("input").long("input").value_name("JSON|@FILE").value_parser(parse_given);
        let input = input.help("Input of the signal: a JSON object, or `@FILE` to read it from a file");
        let command = Command::new(name.clone()).bin_name(name).no_binary_name(true).arg(input);
        let command = flags::add(add_globals(WaitOptions::augment_args(command)), schema);
        let matches: ArgMatches = command.try_get_matches_from(&self.fields)?;
        Ok(Later {
            input: matches.get_one("input").cloned(),
            options: WaitOptions::from_arg_matches(&matches)?,
            fields: flags::read(schema, &matches),
        })
    }
}

/// Options of every verb were found among these words before.
fn add_globals(command: Command) -> Command {
    let json = Arg::new("json").long("json").action(ArgAction::SetTrue).hide(true);
    let directory = Arg::new("directory").short('C').long("directory").hide(true);
    command.arg(json).arg(directory)
}
