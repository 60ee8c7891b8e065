//! A listening socket that ends when the user or the system asks.

use crate::unfinished::Unfinished;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// A listening socket.
pub(crate) struct Listener {
    socket: TcpListener,
    ending: Ending,
}

/// What ends a listener.
#[derive(Clone)]
pub(crate) struct Ending {
    asked: Arc<AtomicBool>,
    address: SocketAddr,
}

impl Listener {
    pub(crate) fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        let socket = TcpListener::bind(address)?;
        let address = socket.local_addr()?;
        Ok(Self { socket, ending: Ending { asked: Arc::default(), address } })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.ending.address
    }

    pub(crate) fn ending(&self) -> Ending {
        self.ending.clone()
    }

    /// The next caller; nobody once it was asked to end.
    pub(crate) fn accept(&self) -> Option<(TcpStream, SocketAddr)> {
        loop {
            let accepted = self.socket.accept();
            if self.ending.is_asked() {
                return None;
            }
            match accepted {
                Ok(caller) => return Some(caller),
                // Out of descriptors, or a caller who went away: others can come later.
                Err(_) => thread::sleep(Duration::from_millis(10)),
            }
        }
    }
}

impl Ending {
    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// Ends the listener: whoever waits in [`Listener::accept`] gets nobody.
    pub(crate) fn ask(&self) {
        if self.asked.swap(true, Ordering::SeqCst) {
            return;
        }
        let mut address = self.address;
        match address {
            SocketAddr::V4(v4) if v4.ip().is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
            SocketAddr::V6(v6) if v6.ip().is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
            _ => {}
        }
        // A socket that waits for callers is woken by one.
        let _ = TcpStream::connect_timeout(&address, Duration::from_secs(1));
    }

    /// The user or the system ends the listener, and not the program, as long as the value lives; who asks twice ends both.
    pub(crate) fn on_signal(&self, also: impl Fn() + Send + Sync + 'static) -> Unfinished {
        let ending = self.clone();
        Unfinished::service(move || {
            ending.ask();
            also();
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;

    #[test]
    fn a_listener_takes_callers_until_it_is_asked_to_end() {
        for address in ["127.0.0.1:0", "0.0.0.0:0"] {
            let listener = Listener::bind(address).unwrap();
            let _caller = TcpStream::connect(("127.0.0.1", listener.address().port())).unwrap();
            assert!(listener.accept().is_some());
            let ending = listener.ending();
            let waiting = thread::spawn(move || listener.accept().is_none());
            ending.ask();
            ending.ask();
            assert!(waiting.join().unwrap());
        }
    }
}
