//! What a route is: its address, what it reads, and who handles it. The router and the OpenAPI document are made from it.

use crate::answer::{Answer, no_method, no_route};
use crate::app::Needs;
use crate::body::{JSON, MARKDOWN};
use crate::call::Call;
use crate::query::decode;
use http::Method;
use regatta_engine::core::Problem;
use schemars::Schema;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

/// A text of the program itself.
pub(crate) type Word = &'static str;

/// A function that answers a call.
pub(crate) trait Handler: Send + Sync + 'static {
    fn start(&self, call: Call) -> Running;
}

impl<H, F> Handler for H
where
    H: Fn(Call) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Answer, Problem>> + Send + 'static,
{
    fn start(&self, call: Call) -> Running {
        Box::pin(self(call))
    }
}

pub(crate) type Running = Pin<Box<dyn Future<Output = Result<Answer, Problem>> + Send>>;

/// One method of one address.
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    /// Its name in the OpenAPI document.
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) needs: Needs,
    pub(crate) parameters: Vec<Parameter>,
    /// The schema of its body, if it reads one.
    pub(crate) schema: Option<Schema>,
    /// The type of its body.
    pub(crate) media: &'static str,
    /// Whether what it makes has an address of its own, or is new: it answers 201.
    pub(crate) creates: bool,
    /// Whether it reads its parameters itself, by the rules of another protocol.
    pub(crate) is_lenient: bool,
    pub(crate) run: Box<dyn Fn(Call) -> Running + Send + Sync>,
}

/// One parameter after the `?`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) about: &'static str,
}

/// What a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Number,
    /// A number, at most this one.
    UpTo(u64),
    Flag,
}

impl Route {
    /// A route that reads.
    pub(crate) fn get(path: Word, name: Word, summary: Word, run: impl Handler) -> Self {
        Route::new(Method::GET, path, name, summary, run)
    }

    /// A route that changes something.
    pub(crate) fn post(path: Word, name: Word, summary: Word, run: impl Handler) -> Self {
        Route::new(Method::POST, path, name, summary, run)
    }

    pub(crate) fn new(method: Method, path: Word, name: Word, summary: Word, run: impl Handler) -> Self {
        let run = Box::new(move |call: Call| run.start(call));
        Route {
            method,
            path,
            name,
            summary,
            needs: Needs::Access,
            parameters: Vec::new(),
            schema: None,
            media: JSON,
            creates: false,
            is_lenient: false,
            run,
        }
    }

    pub(crate) fn needs(mut self, needs: Needs) -> Self {
        self.needs = needs;
        self
    }

    /// Says that it makes something new.
    pub(crate) fn creates(mut self) -> Self {
        self.creates = true;
        self
    }

    /// Leaves its parameters to it.
    pub(crate) fn lenient(mut self) -> Self {
        self.is_lenient = true;
        self
    }

    /// Adds a parameter.
    pub(crate) fn takes(mut self, name: &'static str, kind: Kind, about: &'static str) -> Self {
        self.parameters.push(Parameter { name, kind, about });
        self
    }

    /// Says what its body is.
    pub(crate) fn reads<T: schemars::JsonSchema>(mut self) -> Self {
        self.schema = Some(schemars::schema_for!(T));
        self
    }

    /// Says that its body is Markdown.
    pub(crate) fn reads_markdown(mut self) -> Self {
        self.schema = Some(schemars::schema_for!(String));
        self.media = MARKDOWN;
        self
    }
}

/// All routes, by address.
pub(crate) struct Routes {
    pub(crate) list: Vec<Arc<Route>>,
    by_path: matchit::Router<Vec<Arc<Route>>>,
}

impl Routes {
    pub(crate) fn new(list: Vec<Route>) -> Self {
        let list: Vec<Arc<Route>> = list.into_iter().map(Arc::new).collect();
        let mut grouped: BTreeMap<&str, Vec<Arc<Route>>> = BTreeMap::new();
        for route in &list {
            grouped.entry(route.path).or_default().push(Arc::clone(route));
        }
        let mut by_path = matchit::Router::new();
        for (path, routes) in grouped {
            by_path.insert(path, routes).expect("the addresses of our routes fit together");
        }
        Routes { list, by_path }
    }

    /// Tells whether an address is open to everybody, whatever the method.
    pub(crate) fn is_open(&self, path: &str) -> bool {
        let needs_nothing =
            |routes: &Vec<Arc<Route>>| routes.iter().all(|route| route.needs == Needs::Nothing);
        self.by_path.at(path).is_ok_and(|found| needs_nothing(found.value))
    }

    /// Finds the route of a request, with the parts of its path.
    pub(crate) fn find(
        &self,
        method: &Method,
        path: &str,
    ) -> Result<(Arc<Route>, BTreeMap<String, String>), Problem> {
        let found = self.by_path.at(path).map_err(|_| no_route(path))?;
        // A head is what a read would answer, without its body; hyper leaves that out.
        let wanted = if method == Method::HEAD { &Method::GET } else { method };
        let route = found.value.iter().find(|route| route.method == *wanted);
        let route = route.ok_or_else(|| no_method(method.as_str(), path, found.value))?;
        let mut parts = BTreeMap::new();
        for (name, value) in found.params.iter() {
            parts.insert(name.to_owned(), decode(name, &value.replace('+', "%2B"))?);
        }
        Ok((Arc::clone(route), parts))
    }
}
