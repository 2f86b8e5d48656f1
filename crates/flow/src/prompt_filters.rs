//! The filters of prompts: those of the template engine that do not let a text grow, with limits.
//!
//! A filter that could make a short text long (`replace`, `join`, `indent`) first has to say how long. Each call is
//! charged for its input, because the engine counts a filter as one instruction however much it reads.

use std::cell::Cell;

use minijinja::value::{Kwargs, Rest, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Value};

use crate::fence::fenced;

/// The largest value that a filter takes or makes, in bytes: four prompts.
const VALUE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The longest text that is taken apart; each part weighs many times what is in it.
const SPLIT_BYTES_MAX: usize = 256 * 1024;

/// What the filters of one prompt read together, in bytes.
const WORK_BYTES_MAX: usize = 256 * 1024 * 1024;

/// What a value weighs beside its text.
const VALUE_BYTES: usize = 16;

/// The deepest indentation of JSON.
const JSON_INDENT_MAX: usize = 16;

/// The filters that repeat, fill up or put together, and those of web pages.
const LEFT_OUT: [&str; 9] = ["batch", "chain", "e", "escape", "format", "pprint", "slice", "sum", "zip"];

/// The filters that are taken over.
const TAKEN: [&str; 39] = [
    "abs",
    "attr",
    "bool",
    "capitalize",
    "count",
    "d",
    "default",
    "dictsort",
    "first",
    "float",
    "groupby",
    "indent",
    "int",
    "items",
    "join",
    "last",
    "length",
    "lines",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "reject",
    "rejectattr",
    "replace",
    "reverse",
    "round",
    "safe",
    "select",
    "selectattr",
    "sort",
    "split",
    "string",
    "title",
    "tojson",
    "trim",
    "unique",
    "upper",
];

thread_local! {
    /// What is left for the prompt that is made on this thread.
    static LEFT: Cell<usize> = const { Cell::new(WORK_BYTES_MAX) };
}

/// Begins the account of a prompt; it is made on one thread, without a pause.
pub(crate) fn begin() {
    LEFT.set(WORK_BYTES_MAX);
}

/// Gives an environment these filters, and no others.
pub(crate) fn add_filters(environment: &mut Environment<'static>) {
    LEFT_OUT.iter().for_each(|name| environment.remove_filter(name));
    for name in TAKEN {
        environment.add_filter(name, move |given: Rest<Value>, named: Kwargs| {
            let mut arguments = given.0;
            if named.args().next().is_some() {
                arguments.push(named.into());
            }
            call(name, &arguments)
        });
    }
    environment.add_filter("fenced", |value: &Value, characters_max: Option<usize>| {
        charge(value)?;
        Ok::<_, Error>(fenced(value, characters_max))
    });
}

fn call(name: &str, arguments: &[Value]) -> Result<Value, Error> {
    let size = arguments.iter().map(charge).sum::<Result<usize, Error>>()?;
    if let Some(value) = arguments.first() {
        check_growth(name, value, &arguments[1..], size)?;
    }
    thread_local! {
        static PLAIN: Environment<'static> = Environment::new();
    }
    PLAIN.with(|plain| plain.empty_state().apply_filter(name, arguments))
}

/// Refuses what would be far longer than what it is made from.
fn check_growth(name: &str, value: &Value, more: &[Value], size: usize) -> Result<(), Error> {
    let length = |value: Option<&Value>| value.and_then(Value::as_str).map_or(0, str::len);
    match name {
        "replace" => limit((length(Some(value)) + 1).saturating_mul(length(more.get(1)))),
        "join" => limit(value.len().unwrap_or(size).saturating_mul(length(more.first()))),
        "indent" => {
            let lines = value.as_str().map_or(0, |text| 1 + text.matches('\n').count());
            limit(lines.saturating_mul(find_number(more, "width")))
        }
        "tojson" if find_number(more, "indent") > JSON_INDENT_MAX => Err(refusal("it indents too far")),
        "split" | "lines" | "list" | "reverse"
            if size > SPLIT_BYTES_MAX && value.kind() == ValueKind::String =>
        {
            Err(refusal("the string is too long to split"))
        }
        "map" if !more.iter().all(Value::is_kwargs) => Err(refusal("`map` takes only `attribute=`")),
        _ => Ok(()),
    }
}

/// Finds a number among arguments, in the first place or by its name.
fn find_number(arguments: &[Value], name: &str) -> usize {
    let named = |value: &Value| {
        let named = Kwargs::try_from(value.clone()).ok()?;
        named.peek::<Value>(name).ok()
    };
    let of = |value: &Value| if value.is_kwargs() { named(value) } else { Some(value.clone()) };
    let found = arguments.iter().find_map(of).filter(|value| value.kind() == ValueKind::Number);
    found.map_or(0, |value| usize::try_from(value).unwrap_or(usize::MAX))
}

/// Charges what a value weighs, and returns that.
fn charge(value: &Value) -> Result<usize, Error> {
    let size = measure(value, VALUE_BYTES_MAX);
    limit(size)?;
    match LEFT.get().checked_sub(size) {
        Some(left) => LEFT.set(left),
        None => return Err(refusal("the filters of the prompt read too much")),
    }
    Ok(size)
}

/// Weighs a value, and stops above the limit.
fn measure(value: &Value, limit: usize) -> usize {
    if let Some(text) = value.as_str() {
        return VALUE_BYTES + text.len();
    }
    let is_map = value.kind() == ValueKind::Map;
    let mut size = VALUE_BYTES;
    for key in value.try_iter().into_iter().flatten() {
        if size > limit {
            break;
        }
        if is_map {
            size += value.get_item(&key).map_or(0, |item| measure(&item, limit - size.min(limit)));
        }
        size += measure(&key, limit - size.min(limit));
    }
    size
}

fn limit(size: usize) -> Result<(), Error> {
    if size > VALUE_BYTES_MAX { Err(refusal("the text would be too long")) } else { Ok(()) }
}

fn refusal(why: &'static str) -> Error {
    Error::new(ErrorKind::InvalidOperation, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(template: &str, value: impl Into<Value>) -> Result<String, String> {
        let mut environment = Environment::new();
        add_filters(&mut environment);
        begin();
        let context = minijinja::context! { x => value.into() };
        environment.render_str(template, context).map_err(|error| error.to_string())
    }

    #[test]
    fn filters_do_what_they_are_known_for() {
        for (template, expected) in [
            ("{{ x | map(attribute='a') | join(', ') }}", "1, 2"),
            ("{{ x | length }} {{ x | first | tojson }}", "2 {\"a\": 1}"),
            ("{{ 'a-b' | replace('-', ' + ') | upper }}", "A + B"),
            ("{{ 'a\nb' | indent(2) }}{{ 'c\nd' | indent(width=1) }}", "a\n  bc\n d"),
            ("{{ y | default('none') }} {{ 'a,b' | split(',') | last }}", "none b"),
            ("{% for k, v in x[0] | items %}{{ k }}={{ v }}{% endfor %}", "a=1"),
        ] {
            let items = Value::from(vec![Value::from_pairs([("a", 1)]), Value::from_pairs([("a", 2)])]);
            assert_eq!(render(template, items), Ok(expected.to_owned()), "{template}");
        }
    }

    #[test]
    fn no_filter_makes_much_of_little() {
        let long = "a,".repeat(SPLIT_BYTES_MAX);
        for template in [
            "{{ 'a\nb' | indent(100000000000) }}",
            "{{ 'a\nb' | indent(width=100000000000) }}",
            "{{ x | replace('a', x) }}",
            "{{ x | replace('', 'aaaaaaaaa') }}",
            "{{ range(9000) | join(x) }}",
            "{{ [1] | tojson(indent=1000000000) }}",
            "{{ x | split(',') }}",
            "{{ [x] | map('replace', 'a', x) }}",
            "{{ x | format(1) }}",
            "{{ x | batch(2) }}",
        ] {
            assert!(render(template, long.as_str()).is_err(), "{template}");
        }
    }

    #[test]
    fn what_filters_read_is_charged() {
        let again = "{% for i in range(9000) %}{% if (x | upper | lower) == i %}y{% endif %}{% endfor %}";
        assert!(render(again, "a".repeat(500_000)).is_err_and(|error| error.contains("read too much")));
        assert_eq!(render(again, "a"), Ok(String::new()));
    }
}
