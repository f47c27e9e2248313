//! Network namespaces, each with a cable to this one.

use std::{
    io::{Error, Result},
    net::{Ipv4Addr, SocketAddr},
    process::Command,
};

/// Of the names of all namespaces of this test; what follows is the number of the process that made them.
const PREFIX: &str = "breaker-";

/// Where the replica of a namespace listens.
const PORT: u16 = 7_000;

/// A namespace. Dropping it takes it away, with its cable and whoever is in it.
#[derive(Debug)]
pub(crate) struct Namespace {
    pub(crate) name: String,
    address: Ipv4Addr,
}

impl Namespace {
    /// Number `index` of this process.
    pub(crate) fn create(index: u8) -> Result<Self> {
        let process = std::process::id();
        // Of a range that is kept for tests of networks, four addresses for each cable.
        let base = u32::from(Ipv4Addr::new(198, 18, 0, 0)) + (process % 8_192) * 16 + u32::from(index) * 4;
        let (outside, inside) = (Ipv4Addr::from(base + 1), Ipv4Addr::from(base + 2));
        let namespace = Self { name: format!("{PREFIX}{process}-{index}"), address: inside };
        run("ip", &["netns", "add", &namespace.name])?;
        let cable = format!("b{process}-{index}");
        run(
            "ip",
            &["link", "add", &cable, "type", "veth", "peer", "name", "inside", "netns", &namespace.name],
        )?;
        run("ip", &["address", "add", &format!("{outside}/30"), "dev", &cable])?;
        run("ip", &["link", "set", &cable, "up"])?;
        run("ip", &["-n", &namespace.name, "address", "add", &format!("{inside}/30"), "dev", "inside"])?;
        namespace.link("up")?;
        Ok(namespace)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        (self.address, PORT).into()
    }

    /// Turns the cable's end in there `up` or `down`.
    pub(crate) fn link(&self, way: &str) -> Result<()> {
        run("ip", &["-n", &self.name, "link", "set", "inside", way])
    }

    /// What becomes of packets that come to the replica, in the words of iptables.
    pub(crate) fn treat(&self, rule: &[&str]) -> Result<()> {
        let port = PORT.to_string();
        self.iptables(&[&["-A", "INPUT", "-p", "tcp", "--dport", &port][..], rule].concat())
    }

    /// All packets pass again.
    pub(crate) fn pass(&self) -> Result<()> {
        self.iptables(&["-F", "INPUT"])
    }

    fn iptables(&self, arguments: &[&str]) -> Result<()> {
        run("ip", &[&["netns", "exec", &self.name, "iptables", "-w"][..], arguments].concat())
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        remove(&self.name);
    }
}

/// Says what is missing here, if something is. Takes away what was left behind by processes that are no more.
pub(crate) fn missing() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("this user is not root".to_owned());
    }
    for program in ["ip", "iptables"] {
        if let Err(error) = run(program, &["-V"]) {
            return Some(format!("{program} can't be run: {error}"));
        }
    }
    remove_stale();
    let tried = Namespace::create(u8::MAX / 64).and_then(|namespace| {
        namespace.treat(&["-j", "DROP"])?;
        namespace.treat(&["-j", "REJECT", "--reject-with", "tcp-reset"])?;
        namespace.treat(&["-m", "statistic", "--mode", "random", "--probability", "0.5", "-j", "DROP"])
    });
    tried.err().map(|error| error.to_string())
}

fn remove_stale() {
    let list = Command::new("ip").args(["netns", "list"]).output().map(|output| output.stdout);
    let list = String::from_utf8(list.unwrap_or_default()).unwrap_or_default();
    for name in list.lines().filter_map(|line| line.split_whitespace().next()) {
        let process = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        if process.is_some_and(|process| !std::fs::exists(format!("/proc/{process}")).unwrap_or(true)) {
            remove(name);
        }
    }
}

fn remove(name: &str) {
    let inside = Command::new("ip").args(["netns", "pids", name]).output().map(|output| output.stdout);
    for process in String::from_utf8_lossy(&inside.unwrap_or_default()).split_whitespace() {
        let _ = run("kill", &["-KILL", process]);
    }
    let _ = run("ip", &["netns", "delete", name]);
}

fn run(program: &str, arguments: &[&str]) -> Result<()> {
    let output = Command::new(program).args(arguments).output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Error::other(format!("{program} {}: {}", arguments.join(" "), said.trim())))
}
