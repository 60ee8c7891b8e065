//! What channels do when everything around them goes wrong: links, stores, logs, clocks and members. Fixed seeds, virtual time.

mod crash;
mod early;
mod insider;
mod links;
mod logs;
mod strangers;
