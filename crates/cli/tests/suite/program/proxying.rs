//! What the tests of `tls proxy` share: servers without TLS, and reports.

use super::Folder;
use super::serving::Server;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What terminates TLS with the chain in `pki`.
pub const TERMINATE: &str = "--cert pki/server.pem --key pki/server.key";

pub fn proxy(folder: &Folder, server: SocketAddr, more: &str) -> Server {
    Server::run(folder, &format!("tls proxy --listen 127.0.0.1:0 --connect {server} {more}"))
}

/// A server without TLS that does one thing with each connection, in a thread of its own.
pub fn backend(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for socket in listener.incoming() {
            let (socket, serve) = (socket.unwrap(), Arc::clone(&serve));
            thread::spawn(move || serve(socket));
        }
    });
    address
}

/// Sends back what comes, and ends when the other side has.
pub fn echo() -> SocketAddr {
    backend(|mut socket| {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(length @ 1..) = socket.read(&mut buffer) {
            if socket.write_all(&buffer[..length]).is_err() {
                return;
            }
        }
    })
}

/// A server without TLS that takes one connection, and what becomes of it.
pub fn once<T: Send + 'static>(
    serve: impl FnOnce(TcpStream) -> T + Send + 'static,
) -> (SocketAddr, JoinHandle<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (address, thread::spawn(move || serve(listener.accept().unwrap().0)))
}

/// The next report about a connection.
pub fn told(proxy: &mut Server) -> Value {
    std::iter::repeat_with(|| proxy.tells()).find(|told| told["end"].is_string()).unwrap()
}

/// The next report of that event.
pub fn event(proxy: &mut Server, event: &str) -> Value {
    std::iter::repeat_with(|| proxy.tells()).find(|told| told["type"] == event).unwrap()
}

/// Sends a text and takes it back.
pub fn there_and_back(stream: &mut (impl Read + Write), text: &[u8]) {
    stream.write_all(text).unwrap();
    stream.flush().unwrap();
    let mut got = vec![0; text.len()];
    stream.read_exact(&mut got).unwrap();
    assert_eq!(got, text);
}

/// Waits for something that comes soon.
pub fn soon(what: &str, mut ready: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !ready() {
        assert!(Instant::now() < end, "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}
