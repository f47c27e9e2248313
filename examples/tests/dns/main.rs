//! `dns-forwarder` as people run it: the real program over real sockets, with clients that others wrote, and with
//! servers that do what each test needs.

#![allow(clippy::unwrap_used, reason = "a test that unwraps in vain has failed")]

mod dns_clients;
mod dns_hostile;
mod dns_reload;
mod dns_servers;
mod dns_settings;
mod kit;
