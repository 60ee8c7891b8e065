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
#[path = "../suite/program/mod.rs"]
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
        _ if words.contains(&"--ignored") || !is_asked_for(&words) => {
            println!(
                "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out; finished in 0.00s"
            );
        }
        _ => load::thousands(),
    }
}

/// Whether one of the names asks for the test, or there is none; a number belongs to an option.
#[cfg(target_os = "linux")]
fn is_asked_for(words: &[&str]) -> bool {
    let mut names =
        words.iter().filter(|word| !word.starts_with('-') && word.parse::<u32>().is_err()).peekable();
    names.peek().is_none() || names.any(|name| load::NAME.contains(name))
}

#[cfg(not(target_os = "linux"))]
fn main() {}
