//! Bytes from one side to the other and back, until both have said that there are no more.
//!
//! What cannot be written yet is not read: each direction holds at most one piece, and only while the other side is slow. A
//! connection that moves nothing holds no buffer.

use super::connection::{End, Side};
use prometheus_client::metrics::counter::Counter;
use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, sleep_until};

/// The most bytes that are read at once: a record of TLS.
const PIECE: usize = 16 << 10;

thread_local! {
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; PIECE].into());
}

/// One direction.
struct Direction<'a> {
    from: Side,
    /// What was read and not yet written, from where on.
    kept: Vec<u8>,
    at: usize,
    unflushed: bool,
    state: State,
    moved: u64,
    counter: &'a Counter,
}

enum State {
    Open,
    Closing,
    Closed,
}

/// How many bytes went to the server and came from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moved {
    pub up: u64,
    pub down: u64,
}

/// Relays until both sides have ended, one of them fails, or nothing moves for as long as `idle`.
pub(super) async fn relay<C, S>(
    client: &mut C,
    server: &mut S,
    idle: Duration,
    (up, down): (&Counter, &Counter),
    moved: &mut Moved,
) -> Result<(), End>
where
    C: AsyncRead + AsyncWrite + Unpin,
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut up = Direction::new(Side::Client, up);
    let mut down = Direction::new(Side::Server, down);
    let mut last = Instant::now();
    let mut timer = Box::pin(sleep_until(last + idle));
    poll_fn(|context| {
        let before = (up.progress(), down.progress());
        let above = up.poll(context, client, server);
        let below = down.poll(context, server, client);
        *moved = Moved { up: up.moved, down: down.moved };
        match (above, below) {
            (Poll::Ready(Err(end)), _) | (_, Poll::Ready(Err(end))) => return Poll::Ready(Err(end)),
            (Poll::Ready(Ok(())), Poll::Ready(Ok(()))) => return Poll::Ready(Ok(())),
            _ => {}
        }
        if (up.progress(), down.progress()) != before {
            last = Instant::now();
        }
        // The timer is set anew when it rings, and not at every byte.
        while timer.as_mut().poll(context).is_ready() {
            if last.elapsed() >= idle {
                return Poll::Ready(Err(End::idle(idle)));
            }
            timer.as_mut().reset(last + idle);
        }
        Poll::Pending
    })
    .await
}

impl<'a> Direction<'a> {
    fn new(from: Side, counter: &'a Counter) -> Self {
        let state = State::Open;
        Self { from, kept: Vec::new(), at: 0, unflushed: false, state, moved: 0, counter }
    }

    /// What changes whenever something moves.
    fn progress(&self) -> (u64, usize, bool) {
        (self.moved, self.at, matches!(self.state, State::Closed))
    }

    fn poll(
        &mut self,
        context: &mut Context<'_>,
        from: &mut (impl AsyncRead + Unpin),
        to: &mut (impl AsyncWrite + Unpin),
    ) -> Poll<Result<(), End>> {
        let to_fails = |side: Side| move |error: io::Error| End::cut(side.other(), &error);
        loop {
            match self.state {
                State::Closed => return Poll::Ready(Ok(())),
                State::Closing => {
                    ready!(Pin::new(&mut *to).poll_shutdown(context)).map_err(to_fails(self.from))?;
                    self.state = State::Closed;
                }
                State::Open if self.at < self.kept.len() => {
                    let written = Pin::new(&mut *to).poll_write(context, &self.kept[self.at..]);
                    match ready!(written).map_err(to_fails(self.from))? {
                        0 => {
                            return Poll::Ready(Err(End::cut(
                                self.from.other(),
                                &io::ErrorKind::WriteZero.into(),
                            )));
                        }
                        length => self.at += length,
                    }
                }
                State::Open => {
                    (self.kept, self.at) = (Vec::new(), 0);
                    match SCRATCH.with_borrow_mut(|scratch| self.piece(context, from, to, scratch)) {
                        Poll::Ready(done) => done?,
                        Poll::Pending if self.unflushed => {
                            ready!(Pin::new(&mut *to).poll_flush(context)).map_err(to_fails(self.from))?;
                            self.unflushed = false;
                            return Poll::Pending;
                        }
                        Poll::Pending => return Poll::Pending,
                    }
                }
            }
        }
    }

    /// Reads one piece and writes what can be written of it.
    fn piece(
        &mut self,
        context: &mut Context<'_>,
        from: &mut (impl AsyncRead + Unpin),
        to: &mut (impl AsyncWrite + Unpin),
        scratch: &mut [u8],
    ) -> Poll<Result<(), End>> {
        let mut piece = ReadBuf::new(scratch);
        ready!(Pin::new(from).poll_read(context, &mut piece)).map_err(|error| End::cut(self.from, &error))?;
        let piece = piece.filled();
        if piece.is_empty() {
            self.state = State::Closing;
            return Poll::Ready(Ok(()));
        }
        self.moved += piece.len() as u64;
        self.counter.inc_by(piece.len() as u64);
        self.unflushed = true;
        let written = match Pin::new(to).poll_write(context, piece) {
            Poll::Ready(Ok(0)) => {
                return Poll::Ready(Err(End::cut(self.from.other(), &io::ErrorKind::WriteZero.into())));
            }
            Poll::Ready(written) => written.map_err(|error| End::cut(self.from.other(), &error))?,
            Poll::Pending => 0,
        };
        if written < piece.len() {
            self.kept = piece[written..].to_vec();
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::task::JoinHandle;

    type Outcome = (Result<(), End>, Moved);

    /// A relay between two pipes of that many bytes.
    fn started(
        size: usize,
        idle: Duration,
    ) -> (tokio::io::DuplexStream, tokio::io::DuplexStream, JoinHandle<Outcome>) {
        let (client, mut near) = duplex(size);
        let (server, mut far) = duplex(size);
        let running = tokio::spawn(async move {
            let (up, down, mut moved) = (Counter::default(), Counter::default(), Moved::default());
            let end = relay(&mut near, &mut far, idle, (&up, &down), &mut moved).await;
            assert_eq!((up.get(), down.get()), (moved.up, moved.down));
            (end, moved)
        });
        (client, server, running)
    }

    #[tokio::test]
    async fn one_side_may_end_while_the_other_goes_on() {
        let (mut client, mut server, running) = started(64, Duration::from_secs(60));
        client.write_all(b"question").await.unwrap();
        client.shutdown().await.unwrap();
        let mut asked = Vec::new();
        server.read_to_end(&mut asked).await.unwrap();
        assert_eq!(asked, b"question");
        for _ in 0..10 {
            server.write_all(b"answer").await.unwrap();
            let mut got = [0; 6];
            client.read_exact(&mut got).await.unwrap();
            assert_eq!(&got, b"answer");
        }
        server.shutdown().await.unwrap();
        assert_eq!(client.read(&mut [0; 1]).await.unwrap(), 0);
        let (end, moved) = running.await.unwrap();
        assert!(end.is_ok());
        assert_eq!(moved, Moved { up: 8, down: 60 });
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_takes_is_not_read() {
        let (mut client, mut server, running) = started(1000, Duration::from_secs(60));
        let sending = tokio::spawn(async move {
            let mut sent = 0_usize;
            while tokio::time::timeout(Duration::from_millis(200), client.write_all(&[7; 100])).await.is_ok()
            {
                sent += 100;
            }
            (client, sent)
        });
        let (client, sent) = sending.await.unwrap();
        // Two pipes and one piece.
        assert!(sent <= 2000 + PIECE, "{sent}");
        drop(client);
        let mut got = Vec::new();
        server.read_to_end(&mut got).await.unwrap();
        assert!(got.len() >= sent && got.iter().all(|byte| *byte == 7), "{} of {sent}", got.len());
        drop(server);
        assert_eq!(running.await.unwrap().1.up, got.len() as u64);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_moves_nothing_for_long_has_to_go() {
        let (mut client, server, running) = started(64, Duration::from_millis(300));
        let begun = Instant::now();
        for _ in 0..5 {
            client.write_all(b"x").await.unwrap();
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let (end, moved) = running.await.unwrap();
        assert_eq!((end.unwrap_err().code, moved.up), ("idle", 5));
        assert!(begun.elapsed() >= Duration::from_millis(650), "{:?}", begun.elapsed());
        drop(server);
    }
}
