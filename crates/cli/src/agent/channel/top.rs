//! `channel top`: a channel at a glance, until q is pressed.

use super::tell;
use crate::console::{counted, grouped};
use crate::error::{Error, Status as Exit};
use crate::slim::failed;
use gambeson_identity::text::one_line;
use gambeson_slim::{BridgeNews, Channel, Event, Occurrence, Status};
use ratatui::Frame;
use ratatui::crossterm::event::{self, Event as Input, KeyCode, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, List, Paragraph, Row, Table};
use std::collections::VecDeque;
use std::io::IsTerminal;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::time::sleep;

/// How often it is drawn.
const TICK: Duration = Duration::from_millis(250);
/// Over how long messages and bytes a second are counted.
const WINDOW: Duration = Duration::from_secs(5);
/// How many commits and warnings are kept.
const KEPT: usize = 100;
/// A member that was heard of within this time is there.
const HERE: u64 = 120_000;

/// Messages sent and received, and their bytes.
type Tally = [u64; 4];

/// What is drawn.
struct View {
    id: String,
    me: String,
    status: Status,
    tallies: VecDeque<(Instant, Tally)>,
    commits: VecDeque<String>,
    warnings: VecDeque<String>,
    /// Milliseconds since 1970.
    now: u64,
}

pub(super) async fn top(channel: Channel, me: &str) -> Result<Exit, Error> {
    if !std::io::stdout().is_terminal() {
        return Err(Error::usage("channel top draws on a terminal; channel tail --json is for programs"));
    }
    let mut view = View::new(channel.id().to_string(), me.to_owned());
    let mut position = 0;
    let mut terminal = ratatui::try_init().map_err(|error| Error::stream(&"the terminal", &error))?;
    let watched = loop {
        let seen = channel.history(position, KEPT).await;
        let more = match seen {
            Ok(seen) => {
                seen.iter().for_each(|occurrence| view.hear(occurrence));
                position = seen.last().map_or(position, |last| last.position + 1);
                seen.len() == KEPT
            }
            Err(error) => break Err(failed(error)),
        };
        view.take(channel.status(), Instant::now(), now());
        if let Err(error) = terminal.draw(|frame| view.draw(frame)) {
            break Err(Error::stream(&"the terminal", &error));
        }
        match ended() {
            Ok(true) => break Ok(Exit::Done),
            Ok(false) if more => {}
            Ok(false) => sleep(TICK).await,
            Err(error) => break Err(Error::stream(&"the terminal", &error)),
        }
    };
    ratatui::restore();
    watched
}

/// Whether somebody has pressed a key that ends it.
fn ended() -> std::io::Result<bool> {
    while event::poll(Duration::ZERO)? {
        if let Input::Key(key) = event::read()? {
            let interrupt = key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c');
            if interrupt || matches!(key.code, KeyCode::Char('q') | KeyCode::Esc) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

fn push(lines: &mut VecDeque<String>, line: String) {
    if lines.len() == KEPT {
        lines.pop_back();
    }
    lines.push_front(one_line(line));
}

impl View {
    fn new(id: String, me: String) -> Self {
        Self {
            id,
            me,
            status: Status::default(),
            tallies: VecDeque::new(),
            commits: VecDeque::new(),
            warnings: VecDeque::new(),
            now: 0,
        }
    }

    /// What happened, if it is not what somebody said.
    fn hear(&mut self, occurrence: &Occurrence) {
        match &occurrence.event {
            // The table tells of bridges that stand; they say so once a minute.
            Event::Message { .. } | Event::Bridge { news: BridgeNews::Said(_) | BridgeNews::Open(_), .. } => {
            }
            Event::Bridge { .. } | Event::Warning(_) | Event::Fork(_) => {
                push(&mut self.warnings, tell::text(occurrence))
            }
            _ => push(&mut self.commits, tell::text(occurrence)),
        }
    }

    fn take(&mut self, status: Status, at: Instant, now: u64) {
        let tally = [status.sent.0, status.received.0, status.sent.1, status.received.1];
        self.tallies.push_back((at, tally));
        while self.tallies.len() > 2 && self.tallies.front().is_some_and(|(old, _)| at - *old > WINDOW) {
            self.tallies.pop_front();
        }
        self.status = status;
        self.now = now;
    }

    /// Messages sent and received a second, and their bytes.
    fn rates(&self) -> [f64; 4] {
        match (self.tallies.front(), self.tallies.back()) {
            (Some((begun, old)), Some((at, new))) if at > begun => {
                let seconds = (*at - *begun).as_secs_f64();
                std::array::from_fn(|i| new[i].saturating_sub(old[i]) as f64 / seconds)
            }
            _ => [0.0; 4],
        }
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        let members = u16::try_from(self.status.members.len()).unwrap_or(u16::MAX).saturating_add(3);
        let [head, table, lower] =
            Layout::vertical([Constraint::Length(7), Constraint::Max(members), Constraint::Min(6)])
                .areas(frame.area());
        let [commits, warnings] =
            Layout::vertical([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(lower);
        frame.render_widget(self.head(), head);
        frame.render_widget(self.table(), table);
        frame.render_widget(lines(" last commits ", &self.commits, Style::default()), commits);
        let alarm = if self.warnings.is_empty() { Style::default() } else { Style::default().fg(Color::Red) };
        frame.render_widget(lines(" warnings ", &self.warnings, alarm), warnings);
    }

    fn head(&self) -> Paragraph<'_> {
        let status = &self.status;
        let [sent, received, bytes_out, bytes_in] = self.rates();
        let state = match (status.forked, status.over) {
            (true, _) => "FORKED: nothing is sent until one side is chosen",
            (_, true) => "ended: this agent is no longer a member",
            _ if status.unsent > 0 => "messages wait for the log",
            _ => "well",
        };
        let text = vec![
            Line::from(format!("epoch {}   {}", status.epoch, tell::suite(status.suite))),
            Line::from(format!("authenticator {}", tell::hex(&status.authenticator))),
            Line::from(format!(
                "messages/s out {sent:.1} in {received:.1}   bytes/s out {} in {}   total {} out {} in",
                grouped(bytes_out as u64),
                grouped(bytes_in as u64),
                grouped(status.sent.0),
                grouped(status.received.0)
            )),
            Line::from(format!(
                "unsent {}   held {}   dropped {}   commits {} won {} lost   log read to {}",
                status.unsent, status.held, status.dropped, status.commits.0, status.commits.1, status.read
            )),
            Line::from(format!("{state}{}", self.bridged()))
                .style(Style::default().add_modifier(Modifier::BOLD)),
        ];
        Paragraph::new(text).block(Block::bordered().title(format!(" channel {} ", self.id)))
    }

    /// That what is said goes to classical clients too, if it does.
    fn bridged(&self) -> String {
        let count = self.status.bridges.len();
        if count == 0 { String::new() } else { format!("   BRIDGED by {count}: the far end is classical") }
    }

    fn table(&self) -> Table<'_> {
        let rows = self.status.members.iter().map(|member| {
            let state = if member.did == self.me {
                "this agent".to_owned()
            } else if member.heard == 0 {
                "nothing received".to_owned()
            } else {
                let ago = self.now.saturating_sub(member.heard);
                format!("{} {} s ago", if ago <= HERE { "here," } else { "silent," }, ago / 1000)
            };
            let far = member.bridge.as_ref().map(|end| one_line(tell::far_end(end)) + "; ");
            Row::new([
                member.role.clone(),
                one_line(tell::short(&member.did)),
                member.behind.to_string(),
                far.unwrap_or_default() + &state,
            ])
        });
        let widths =
            [Constraint::Length(10), Constraint::Length(24), Constraint::Length(16), Constraint::Min(16)];
        Table::new(rows, widths)
            .header(Row::new(["role", "member", "without receipt", "state"]).style(Modifier::UNDERLINED))
            .block(Block::bordered().title(format!(" {} ", counted(self.status.members.len(), "member"))))
    }
}

fn lines<'a>(title: &'a str, lines: &'a VecDeque<String>, style: Style) -> List<'a> {
    List::new(lines.iter().map(String::as_str)).style(style).block(Block::bordered().title(title))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;
    use bytes::Bytes;
    use gambeson_slim::{FarEnd, FarMessage, MemberStatus, MessageId, Warning};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn drawn(view: &View) -> String {
        let mut terminal = Terminal::new(TestBackend::new(100, 30)).unwrap();
        terminal.draw(|frame| view.draw(frame)).unwrap();
        let cells = terminal.backend().buffer().content();
        cells.chunks(100).map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>() + "\n").collect()
    }

    fn member(did: &str, role: &str, behind: u64, heard: u64) -> MemberStatus {
        MemberStatus { did: did.to_owned(), role: role.to_owned(), behind, heard, bridge: None }
    }

    fn view() -> View {
        let mut view = View::new("c0ffee".to_owned(), "did:gambeson:me".to_owned());
        let mut status = Status { epoch: 7, suite: 0xf00a, authenticator: [0xab; 16], ..Status::default() };
        status.members = vec![
            member("did:gambeson:me", "owner", 0, 0),
            member("did:gambeson:bob", "member", 3, 90_000),
            member("did:gambeson:eve", "listener", 12, 1),
            member("did:gambeson:new", "member", 0, 0),
        ];
        let begun = Instant::now();
        view.take(status.clone(), begun, 100_000);
        status.sent = (10, 10_240);
        status.received = (40, 40_960);
        view.take(status, begun + Duration::from_secs(2), 400_001);
        view
    }

    #[test]
    fn the_dashboard_shows_members_epoch_suite_rates_and_receipts() {
        let text = drawn(&view());
        for shown in [
            "channel c0ffee",
            "epoch 7",
            "MLKEM768_AES256GCM_SHA384_MLDSA65",
            "abababababababababababababababab",
            "out 5.0 in 20.0",
            "out 5 120 in 20 480",
            "4 members",
            "this agent",
            "nothing received",
            "silent, 310 s ago",
            "well",
        ] {
            assert!(text.contains(shown), "no {shown:?} in\n{text}");
        }
        let eve = text.lines().find(|line| line.contains("did:gambeson:eve")).unwrap();
        assert!(eve.contains("listener") && eve.contains("12") && eve.contains("silent, 400 s ago"), "{eve}");
    }

    #[test]
    fn commits_and_warnings_stand_apart_and_what_terminals_obey_is_escaped() {
        let mut view = view();
        let by = "did:gambeson:bob\u{1b}[2J".to_owned();
        view.hear(&Occurrence { position: 1, at: 1_000, event: Event::Rotated { by, epoch: 6 } });
        let warning = Warning::Refused { place: 9, reason: "not-allowed: a listener adds nobody".to_owned() };
        view.hear(&Occurrence { position: 2, at: 2_000, event: Event::Warning(warning) });
        let text = drawn(&view);
        let (commit, warning) =
            (text.find("has new keys").unwrap(), text.find("a listener adds nobody").unwrap());
        let (commits, warnings) = (text.find("last commits").unwrap(), text.find(" warnings ").unwrap());
        assert!(commits < commit && commit < warnings && warnings < warning, "{text}");
        assert!(!text.contains('\u{1b}') && text.contains("\\u{1b}"), "{text}");
    }

    /// What is behind bob.
    fn far_end(encrypted: bool) -> FarEnd {
        FarEnd { session: "acme/talks".to_owned(), encrypted, clients: vec!["acme/a/b".to_owned(); 3] }
    }

    #[test]
    fn a_bridge_is_told_in_the_head_and_beside_its_member() {
        let mut view = view();
        assert!(!drawn(&view).contains("classical"));
        view.status.members[1].bridge = Some(far_end(false));
        view.status.bridges.insert("did:gambeson:bob".to_owned(), far_end(false));
        let text = drawn(&view);
        assert!(text.contains("BRIDGED by 1: the far end is classical"), "{text}");
        let bob = text.lines().find(|line| line.contains("did:gambeson:bob")).unwrap();
        assert!(bob.contains("far end is classical, in the clear"), "{bob}");
        let me = text.lines().find(|line| line.contains("did:gambeson:me")).unwrap();
        assert!(!me.contains("classical"), "{me}");
    }

    #[test]
    fn what_a_bridge_carries_in_is_told_as_classical_and_what_it_does_not_carry_is_a_warning() {
        let mut view = view();
        let said = FarMessage {
            from: "acme/a/b".to_owned(),
            kind: "text/plain".to_owned(),
            bytes: Bytes::from_static(b"hi\n"),
        };
        let id = MessageId { sender: "did:gambeson:bob".to_owned(), born: 1, counter: 2, index: 0 };
        let told = [
            BridgeNews::Open(far_end(true)),
            BridgeNews::Said(said),
            BridgeNews::Missed("too large".to_owned()),
            BridgeNews::Closed("the session is over".to_owned()),
        ]
        .map(|news| {
            let event = Event::Bridge { id: id.clone(), news };
            let occurrence = Occurrence { position: 3, at: 1_000, event };
            view.hear(&occurrence);
            let value = tell::json(&occurrence);
            assert_eq!((&value["type"], &value["classical"]), (&"bridge".into(), &true.into()), "{value}");
            assert_eq!(value["by"], "did:gambeson:bob");
            (tell::text(&occurrence), value)
        });
        assert!(told[0].0.contains("far end is classical, under SLIM's own MLS: 3 clients in acme/talks"));
        assert_eq!((&told[0].1["says"], &told[0].1["farEnd"]["encrypted"]), (&"open".into(), &true.into()));
        assert!(
            told[1].0.ends_with("acme/a/b (classical, carried by did:gambeson:bob): hi"),
            "{}",
            told[1].0
        );
        assert_eq!((&told[1].1["speaker"], &told[1].1["text"]), (&"acme/a/b".into(), &"hi\n".into()));
        assert_eq!((&told[2].1["says"], &told[2].1["reason"]), (&"missed".into(), &"too large".into()));
        assert_eq!(told[3].1["says"], "closed");
        let text = drawn(&view);
        assert!(text.contains("did not carry a message: too large"), "{text}");
        assert!(text.contains("is no longer a bridge: the session is over"), "{text}");
        assert!(!text.contains("carried by"), "{text}");
        let forbidden = Warning::ForbiddenBridge { member: "did:gambeson:eve".to_owned() };
        assert!(tell::warned(&forbidden).contains("the channel's policy forbids"));
    }

    #[test]
    fn a_fork_and_an_end_are_told_in_the_head() {
        let mut view = view();
        view.status.forked = true;
        assert!(drawn(&view).contains("FORKED"));
        view.status.forked = false;
        view.status.over = true;
        assert!(drawn(&view).contains("no longer a member"));
        view.status.over = false;
        view.status.unsent = 2;
        assert!(drawn(&view).contains("messages wait for the log"));
    }
}
