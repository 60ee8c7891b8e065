//! Thousands of connections through `tls proxy`: the load maker, the proxy and the server behind it are processes of their own.
//!
//! As a test: 8,000 connections are opened, used and closed, twice, and nothing leaks. As a measurement:
//!
//! ```sh
//! cargo test --release -p gambeson-cli --test tls_proxy_load -- measure
//! ```

#![allow(clippy::unwrap_used)]

#[cfg(target_os = "linux")]
mod load;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
#[path = "../program/mod.rs"]
mod program;

#[cfg(target_os = "linux")]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["server"] => load::server(),
        ["clients", port, root, group] => load::clients(port.parse().unwrap(), root, group),
        ["measure"] => measure::measure(),
        // The tests' own options: of one test there is nothing to choose.
        _ if words.contains(&"--list") => println!("{}: test", load::NAME),
        _ if words.contains(&"--ignored") => println!(
            "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out; finished in 0.00s"
        ),
        _ if words.iter().any(|word| !word.starts_with('-') && !load::NAME.contains(word)) => {}
        _ => load::thousands(),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}
