//! HTTP of `tls get` and `tls serve`: framing, codings, records, URLs.

use crate::program::Folder;
use crate::program::serving::{Server, serve_once, with_chain};
use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};

/// What `tls get` says of an answer, whose server says goodbye or keeps the connection open until the client goes: the reason of a failure, or the body.
fn outcome(folder: &Folder, answer: impl AsRef<[u8]>, goodbye: bool) -> Result<Vec<u8>, String> {
    let sent = answer.as_ref().to_vec();
    let (port, serving) = serve_once(
        folder,
        |key| key,
        1,
        move |stream| {
            let _ = stream.read(&mut [0; 4096]).unwrap();
            // A client that refuses the head reads no more.
            let _ = stream.write_all(&sent).and_then(|()| stream.flush());
            if goodbye {
                stream.conn.send_close_notify();
                let _ = stream.flush();
            } else {
                let _ = stream.read_to_end(&mut Vec::new());
            }
        },
    );
    let line =
        format!("tls get https://localhost:{port}/ -o x --force --json --timeout 20 --ca pki/root.pem");
    let told = folder.run(&line);
    serving.join().unwrap();
    if told.code == 0 {
        let body = folder.read("x");
        std::fs::remove_file(folder.path("x")).unwrap();
        return Ok(body);
    }
    assert!(!folder.exists("x"));
    let told = told.exits(3).json();
    Err(format!("{}: {}", told["reason"].as_str().unwrap_or("none"), told["detail"].as_str().unwrap()))
}

#[test]
fn a_complete_answer_needs_no_goodbye() {
    let folder = with_chain("ecdsa-p256");
    let begun = Instant::now();
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\ncontent-length: 4\r\n\r\nbody",
        "HTTP/1.0 200 OK\r\nContent-Length: 4\r\nConnection: keep-alive\r\n\r\nbody",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nbo\r\n2;a=b\r\ndy\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nTrailer: x\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",
        "HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Length: 4\r\n\r\nbody",
        // What follows is no part of it (RFC 9112, section 9.2).
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody!",
    ] {
        assert_eq!(outcome(&folder, answer, false), Ok(b"body".to_vec()), "{answer:?}");
    }
    assert_eq!(outcome(&folder, "HTTP/1.1 204 No Content\r\n\r\n", false), Ok(Vec::new()));
    assert!(begun.elapsed() < Duration::from_secs(20), "it waited for a goodbye");
    // Without a length the goodbye is the end.
    assert_eq!(outcome(&folder, "HTTP/1.1 200 OK\r\n\r\nbody", true), Ok(b"body".to_vec()));
}

#[test]
fn an_answer_that_is_not_whole_or_not_http_is_refused_with_its_reason() {
    let folder = with_chain("ecdsa-p256");
    for (answer, reason) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbod", "truncated"),
        ("HTTP/1.1 200 OK\r\nContent-Le", "truncated"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbod", "truncated"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n", "truncated"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nbody\r\n", "not-http"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4", "truncated"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", "not-http"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nbody", "not-http"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", "not-http"),
        ("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", "not-http"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
            "not-http",
        ),
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nbody", "not-http"),
        ("HTTP/1.1 200 OK\r\nContent-Length: +4\r\n\r\nbody", "not-http"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 4, 4\r\n\r\nbody", "not-http"),
        ("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nbody", "not-http"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nbody", "not-http"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2147483648\r\n\r\nbody", "too-large"),
        ("SSH-2.0-OpenSSH\r\n", "not-http"),
    ] {
        let told = outcome(&folder, answer, true).unwrap_err();
        assert!(told.starts_with(&format!("{reason}: localhost")), "{answer:?}: {told}");
    }
}

/// The words are ours, not those of a library, and tell what to look at.
#[test]
fn an_answer_that_is_not_http_is_told_of_in_plain_words() {
    let folder = with_chain("ecdsa-p256");
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (answer, words) in [
        ("SSH-2.0-OpenSSH\r\n".to_owned(), "it does not begin with HTTP/1.1 or HTTP/1.0"),
        ("HTTP/2 200 OK\r\n\r\n".into(), "it does not begin with HTTP/1.1 or HTTP/1.0"),
        ("HTTP/1.1 2x0 OK\r\n\r\n".into(), "three digits"),
        ("HTTP/1.1 099 OK\r\n\r\n".into(), "status"),
        ("HTTP/1.1 200 OK\r\nContent-Length : 4\r\n\r\nbody".into(), "name of a field"),
        ("HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\nbody".into(), "value of a field"),
        ("HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\nbody".into(), "value of a field"),
        (format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(300)), "fields"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nbody".into(), "Content-Length"),
        (format!("{chunked}0x4\r\nbody\r\n0\r\n\r\n"), "malformed chunk"),
        (format!("{chunked}-4\r\nbody\r\n0\r\n\r\n"), "malformed chunk"),
        (format!("{chunked}\r\nbody\r\n0\r\n\r\n"), "malformed chunk"),
        (format!("{chunked}1ffffffffffffffff\r\nbody\r\n0\r\n\r\n"), "malformed chunk"),
        (format!("{chunked}4\r\nbodyXX0\r\n\r\n"), "malformed chunk"),
        (format!("{chunked}4\nbody\n0\n\n"), "malformed chunk"),
        (format!("{chunked}4\r\nbody\n0\r\n"), "malformed chunk"),
        (format!("{chunked}4\r\nbodyXX"), "malformed chunk"),
        (format!("{chunked}what is this"), "malformed chunk"),
        (format!("{chunked}{}4", "0".repeat(300)), "malformed chunk"),
    ] {
        let told = outcome(&folder, &answer, true).unwrap_err();
        assert!(told.starts_with("not-http: localhost") && told.contains(words), "{answer:?}: {told}");
        assert!(!told.contains("http parse") && !told.contains("cut off"), "{told}");
    }
    // Where the line of a length may still come, the answer was cut off.
    for rest in ["", "4", "4\r", "4\r\nbody", "4\r\nbody\r", "4\r\nbody\r\n"] {
        let told = outcome(&folder, format!("{chunked}{rest}"), true).unwrap_err();
        assert!(told.starts_with("truncated: ") && told.contains("cut off"), "{rest:?}: {told}");
    }
}

#[test]
fn identity_is_asked_for_and_other_codings_are_named() {
    let folder = with_chain("ecdsa-p256");
    for (coding, named) in
        [("gzip", "gzip"), ("identity, br", "br"), ("GZIP", "GZIP"), ("x\u{7f}", "not text")]
    {
        let answer =
            format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: 4\r\n\r\nbody");
        let told = outcome(&folder, answer, false).unwrap_err();
        if named != "not text" {
            assert!(told.starts_with("content-coding: ") && told.contains(&format!("\"{named}\"")), "{told}");
        }
    }
    let told = outcome(
        &folder,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
        false,
    );
    assert!(told.unwrap_err().contains("gzip, chunked"));
    let (asked, heard) = std::sync::mpsc::channel();
    let (port, serving) = serve_once(
        &folder,
        |key| key,
        1,
        move |stream| {
            let mut request = [0; 4096];
            let length = stream.read(&mut request).unwrap();
            asked.send(String::from_utf8(request[..length].to_vec()).unwrap()).unwrap();
            stream.write_all(b"HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\n\r\n").unwrap();
        },
    );
    let line = format!("tls get https://localhost:{port}/a/b?c=d#e --json --ca pki/root.pem");
    assert!(folder.run(&line).exits(3).stderr.contains("status 426"));
    serving.join().unwrap();
    let request = heard.recv().unwrap();
    let lower = request.to_ascii_lowercase();
    assert!(request.starts_with("GET /a/b?c=d HTTP/1.1\r\n"), "{request}");
    let host = format!("\r\nhost: localhost:{port}\r\n");
    for field in
        [&host[..], "\r\naccept-encoding: identity\r\n", "\r\nconnection: close\r\n", "\r\naccept: */*\r\n"]
    {
        assert!(lower.contains(field), "{field:?}: {request}");
    }
}

#[test]
fn an_answer_of_the_server_is_one_record_where_it_fits() {
    let folder = with_chain("ecdsa-p256");
    std::fs::create_dir(folder.path("www")).unwrap();
    folder.write("www/small.txt", "x".repeat(3000));
    for (more, path) in [("", "/"), ("--root www", "/small.txt"), ("--root www", "/absent")] {
        let server = Server::start(&folder, more);
        let mut stream = server.call(&folder);
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let (mut records, mut header) = (0, [0; 5]);
        while stream.sock.read_exact(&mut header).is_ok() {
            let mut record = vec![0; usize::from(u16::from_be_bytes([header[3], header[4]]))];
            stream.sock.read_exact(&mut record).unwrap();
            let whole = [&header[..], &record].concat();
            stream.conn.read_tls(&mut &whole[..]).unwrap();
            let before = stream.conn.process_new_packets().unwrap().plaintext_bytes_to_read();
            records += usize::from(before != 0);
            std::io::copy(&mut stream.conn.reader(), &mut std::io::sink()).ok();
        }
        assert_eq!(records, 1, "{more} {path}");
    }
}

/// The answer of the server to these bytes.
fn answer(server: &Server, folder: &Folder, request: &str) -> String {
    let mut stream = server.call(folder);
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_server_speaks_http_as_it_is_written() {
    let folder = with_chain("ecdsa-p256");
    std::fs::create_dir_all(folder.path("www/sub")).unwrap();
    folder.write("www/index.html", "<p>hello</p>");
    folder.write("secret", "secret");
    let mut server = Server::start(&folder, "--root www");
    let of = |request: &str| answer(&server, &folder, request);
    let whole = of("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(whole.starts_with("HTTP/1.1 200 OK\r\n") && whole.ends_with("\r\n\r\n<p>hello</p>"), "{whole}");
    let lower = whole.to_ascii_lowercase();
    for field in [
        "content-length: 12",
        "content-type: text/html; charset=utf-8",
        "x-content-type-options: nosniff",
        "connection: close",
    ] {
        assert!(lower.contains(&format!("\r\n{field}\r\n")), "{field}: {whole}");
    }
    let older = of("GET / HTTP/1.0\r\n\r\n");
    assert!(older.starts_with("HTTP/1.0 200 OK\r\n") && older.ends_with("\r\n\r\n<p>hello</p>"), "{older}");
    let head = of("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let told = head.to_ascii_lowercase();
    assert!(told.contains("\r\ncontent-length: 12\r\n") && told.ends_with("\r\n\r\n"), "{head}");
    // A proxy's form of the target is the same target (RFC 9112, section 3.2.2).
    assert!(of("GET https://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n").ends_with("<p>hello</p>"));
    assert!(
        of("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nbody")
            .starts_with("HTTP/1.1 405 ")
    );
    for path in
        ["/../secret", "/%2e%2e/secret", "/sub/../../secret", "/..%2fsecret", "/sub/%2e%2e/%2e%2e/secret"]
    {
        let refused = of(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        assert!(refused.starts_with("HTTP/1.1 404 ") && !refused.contains("secret"), "{path}: {refused}");
    }
    for bad in ["\0\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/1.1\r\nA B: c\r\n\r\n"] {
        assert!(of(bad).starts_with("HTTP/1.1 400 "), "{bad:?}");
    }
    // Another protocol, whose client would take an answer in this one for noise.
    assert_eq!(of("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "");
    let long = of(&format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(20_000)));
    assert!(long.starts_with("HTTP/1.1 431 "), "{long}");
    for (what, status, bytes) in [("GET /", 200, 12), ("GET /", 200, 12), ("HEAD /", 200, 0)] {
        let told = server.tells();
        assert_eq!(
            (&told["target"], &told["status"], &told["bytes"]),
            (&what.into(), &status.into(), &bytes.into()),
            "{told}"
        );
    }
    let told = std::iter::repeat_with(|| server.tells()).find(|told| told["target"] == "no request").unwrap();
    assert_eq!(told["status"], 400);
}

/// RFC 9112, section 3.2.
#[test]
fn a_request_without_its_one_host_is_a_bad_request() {
    let folder = with_chain("ecdsa-p256");
    let mut server = Server::start(&folder, "");
    let of = |request: &str| answer(&server, &folder, request);
    for (request, status) in [
        ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 200),
        ("GET / HTTP/1.1\r\nhost: [::1]:8443\r\n\r\n", 200),
        ("GET / HTTP/1.0\r\n\r\n", 200),
        ("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n", 200),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("HEAD / HTTP/1.1\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody", 400),
        ("GET https://localhost/ HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a.example\r\nX: y\r\nhOST: b.example\r\n\r\n", 400),
        ("GET / HTTP/1.0\r\nHost: a.example\r\nHost: b.example\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a.example, b.example\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: me@a.example\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a.example/b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a.example:99999\r\n\r\n", 400),
    ] {
        let (told, minor) = (of(request), u8::from(request.contains("/1.1")));
        assert!(told.starts_with(&format!("HTTP/1.{minor} {status} ")), "{request:?}: {told}");
    }
    let told = std::iter::repeat_with(|| server.tells()).find(|told| told["status"] == 400).unwrap();
    assert_eq!(told["target"], "no request");
}

#[test]
fn a_client_that_announces_content_and_sends_none_loses_its_place() {
    let folder = with_chain("ecdsa-p256");
    let server = Server::start(&folder, "--connections 1 --timeout 1");
    let mut stream = server.call(&folder);
    stream.write_all(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n").unwrap();
    let waiting = thread::spawn(move || stream.read_to_end(&mut Vec::new()));
    server.get(&folder, "/", "--timeout 20").exits(0);
    let _ = waiting.join().unwrap();
}

#[test]
fn urls_are_read_as_everybody_reads_them() {
    let folder = with_chain("ecdsa-p256");
    let server = Server::start(&folder, "");
    let port = server.port;
    let get = |url: &str| {
        let line =
            format!("tls get {url} --connect-to 127.0.0.1:{port} --ca pki/root.pem --json -o x --force");
        folder.run(&line)
    };
    for url in [
        "HTTPS://localhost/",
        "https://LOCALHOST",
        "https://localhost./",
        "hTTps://localhost.:443?a",
        "https://127.0.0.1/",
        // Only before the host an at sign ends the name of a user (RFC 3986, section 3.2.1).
        "https://localhost/@scope/package",
        "https://localhost?to=me@bank.example",
        "https://localhost/a?b=/c@d",
        "https://localhost/#@",
    ] {
        get(url).exits(0);
    }
    // Names of others, in their own letters: the certificate is not theirs, and says so.
    for (url, name) in [
        ("https://b\u{fc}cher.example/", "xn--bcher-kva.example"),
        ("https://xn--bcher-kva.example/", "xn--bcher-kva.example"),
    ] {
        let told = get(url).exits(1).json();
        assert_eq!(told["reason"], "wrong-name", "{url}");
        assert!(told["detail"].as_str().unwrap().contains(name), "{told}");
    }
    for (url, part) in [
        ("http://localhost/", "expected a URL such as https://"),
        ("https:localhost/", "expected a URL such as https://"),
        ("https:///localhost/", "not HOST:PORT"),
        ("https://?x", "not HOST:PORT"),
        ("https://localhost:+1/", "not HOST:PORT"),
        ("https://a..b/", "neither a name nor an address"),
        ("https://localhost\\@elsewhere/", "a user name"),
        ("https://localhost\\x/", "not HOST:PORT"),
        ("https://\u{ad}/", "not HOST:PORT"),
        ("https://xn--a/", "not HOST:PORT"),
        ("https://[::1/", "not HOST:PORT"),
        ("https://user:word@localhost/", "a user name"),
        ("https://user@localhost", "a user name"),
        ("https://@localhost?x", "a user name"),
        ("https://localhost../", "neither a name nor an address"),
        ("https://localhost...", "neither a name nor an address"),
        ("https://b\u{fc}cher.example../", "neither a name nor an address"),
        ("https://[fe80::1%25eth0]/", "zone"),
        ("https://[fe80::1%eth0]:443/a", "zone"),
    ] {
        get(url).exits(2).tells(part);
    }
    let line = format!("tls scan LOCALHOST.:{port} --connect-to 127.0.0.1:{port}");
    folder.run(&line).exits(0);
    folder.run("tls scan a_\u{ad}:").exits(2).tells("not HOST:PORT");
    folder.run(&format!("tls scan localhost..:{port}")).exits(2).tells("neither a name nor an address");
    folder.run("tls scan [fe80::1%eth0]:443").exits(2).tells("zone");
}
