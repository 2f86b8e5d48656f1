//! The server of one project, from its start to its end.

use crate::accept::{self, Counts};
use crate::app::App;
use crate::error::Error;
use crate::guard::Hosts;
use crate::hub::Hub;
use crate::keys::Keys;
use crate::limits::Limits;
use crate::listen::listen;
use crate::open_files::make_room;
use crate::public_url::PublicUrl;
use crate::reviews::Reviews;
use crate::route::Routes;
use crate::routes;
use crate::rows::Shared;
use crate::viewed::Viewed;
use regatta_engine::Project;
use regatta_engine::core::Actor;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How a server is started.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The port; without one, that of the last start or the next that is free.
    pub port: Option<u16>,
    /// Who runs it; whoever has the cookie or the token acts for them.
    pub actor: Actor,
    /// What a client may cost.
    pub limits: Limits,
    /// Where a proxy shows it to others.
    pub public: Option<PublicUrl>,
}

/// A server that runs.
#[derive(Debug)]
pub struct Server {
    keys: Keys,
    port: u16,
    stop: CancellationToken,
    limits: Limits,
    /// Ends when the last connection is closed.
    closed: mpsc::Receiver<()>,
}

impl Server {
    /// Starts the server of a project.
    pub async fn start(project: Arc<Project>, settings: Settings) -> Result<Self, Error> {
        let keys = Keys::ensure(&project)?;
        let listeners = listen(&keys, settings.port).await?;
        let limits = make_room(settings.limits);
        let (port, stop) = (listeners.port, CancellationToken::new());
        keys.save_public(settings.public.as_ref())?;
        project.note_served_at(format!("http://127.0.0.1:{port}"));
        let hub = Hub::start(Arc::clone(&project), stop.clone()).await?;
        let app = Arc::new(App {
            project,
            hosts: Hosts::new(&keys.host(), port, settings.public.as_ref()),
            keys: keys.clone(),
            limits: limits.clone(),
            actor: settings.actor,
            stop: stop.clone(),
            routes: Routes::new(routes::all()),
            hub,
            shared: Shared::default(),
            reviews: Reviews::default(),
            viewed: Viewed::new(keys.viewed_folder()),
        });
        let (open, closed) = mpsc::channel(1);
        let counts = Arc::new(Counts::default());
        for listener in listeners.list {
            let (app, counts) = (Arc::clone(&app), Arc::clone(&counts));
            tokio::spawn(accept::run(listener, app, counts, stop.clone(), open.clone()));
        }
        Ok(Server { keys, port, stop, limits, closed })
    }

    /// Returns the port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the keys of its project.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Stops it: finishes requests that are under way, ends streams, and drops what takes too long.
    pub async fn stop(mut self) {
        self.stop.cancel();
        let _ = tokio::time::timeout(self.limits.stop_time * 2, self.closed.recv()).await;
    }
}
