//! Faults of everything around channels: links, stores, logs, clocks and members. Fixed seeds, virtual time.

mod crash;
mod early;
mod insider;
mod links;
mod logs;
mod strangers;
