//! Agents that reach each other over memory.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use gambeson_identity::{Agent, CardContent, CardLog, Did, Role, Timestamp};
use gambeson_mls::Preset;
use gambeson_slim::memory::{Hub, MemoryService};
use gambeson_slim::{Admit, Cards, Clock, Me, MemoryStore, Node, Options, Services, SystemClock};
use tokio::time::sleep;

/// What agents meet on.
pub struct Nearby {
    hub: Hub,
    services: Services,
    /// Whose invitations all take without asking: those of the first.
    host: Option<Did>,
}

impl Nearby {
    pub fn new() -> Self {
        Self { hub: Hub::new(), services: Services::of(Arc::new(MemoryService::new())), host: None }
    }

    /// One more agent.
    pub async fn agent(&mut self) -> Result<Node, Box<dyn Error>> {
        let now = Timestamp(SystemClock.now() / 1000);
        let agent = Arc::new(Agent::generate()?);
        let content = CardContent { groups: vec![Role::GroupMlDsa65], ..CardContent::default() };
        let log = CardLog::new(agent.first_card(now, now.after(24 * 3600), &content)?)?;
        let me = Me::new(Arc::clone(&agent), &log, Preset::Default)?;
        let host = self.host.get_or_insert_with(|| agent.did().clone()).clone();
        let options = Options { admit: Admit::From(BTreeSet::from([host])), ..Options::default() };
        let (link, store) = (Arc::new(self.hub.link()), Arc::new(MemoryStore::new()));
        let node =
            Node::open(me, &log, Arc::new(Cards::default()), link, self.services.clone(), store, options)
                .await?;
        // Who has offered no key package cannot be invited yet.
        while self.services.keys.left(agent.did().as_str()).await? == 0 {
            sleep(Duration::from_millis(10)).await;
        }
        Ok(node)
    }
}
