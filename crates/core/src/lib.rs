#![no_std]
//! gambeson
