use std::{
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::soon;

/// The program, running; killed at the end of the test.
pub(crate) struct Program {
    child: Child,
    lines: UnboundedReceiver<String>,
    pub(crate) address: SocketAddr,
    pub(crate) file: PathBuf,
}

impl Program {
    /// Forwards to `servers` in this order, by the rules in `blocks`: members of the settings file, or nothing.
    pub(crate) async fn with(servers: &[SocketAddr], blocks: &str, arguments: &[&str]) -> Self {
        let comma = if blocks.is_empty() { "" } else { "," };
        let servers: Vec<_> = servers.iter().map(ToString::to_string).collect();
        Self::reading(&format!(r#"{{ "remoteDnsServers": {servers:?}{comma} {blocks} }}"#), arguments).await
    }

    /// Reads a settings file with this content.
    pub(crate) async fn reading(content: &str, arguments: &[&str]) -> Self {
        Self::started(content, arguments).listening().await
    }

    /// The same, from its first line on.
    pub(crate) fn started(content: &str, arguments: &[&str]) -> Self {
        let file = fresh_file();
        std::fs::write(&file, content).unwrap();
        let config = ["--config", file.to_str().unwrap()];
        Self::run(file.clone(), &[&config[..], arguments].concat())
    }

    /// With no settings file.
    pub(crate) async fn bare() -> Self {
        Self::run(PathBuf::new(), &[]).listening().await
    }

    fn run(file: PathBuf, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_dns-forwarder"))
            .args(["--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = unbounded_channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, lines, address: ([127, 0, 0, 1], 0).into(), file }
    }

    /// Waits until clients can ask.
    async fn listening(mut self) -> Self {
        let line = self.says("listening at").await;
        let address = line.split_whitespace().find_map(|word| word.parse().ok());
        self.address = address.unwrap_or_else(|| panic!("{line}"));
        self
    }

    /// Waits for a line that holds `what`.
    pub(crate) async fn says(&mut self, what: &str) -> String {
        let line = async {
            while let Some(line) = self.lines.recv().await {
                if line.contains(what) {
                    return line;
                }
            }
            panic!("it ended and never said {what:?}")
        };
        soon(what, line).await
    }

    /// What it has said and was not waited for.
    pub(crate) fn said(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.lines.try_recv().ok()).collect()
    }

    /// Sends a signal, as `HUP`.
    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args(["-s", signal, &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// How many files it has open.
    #[cfg(target_os = "linux")]
    pub(crate) fn open_files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// Asks it to end, and gives the rest of what it said. It must have ended well.
    #[cfg(unix)]
    pub(crate) async fn end(&mut self) -> String {
        self.signal("INT");
        let rest = async {
            let mut rest = String::new();
            while let Some(line) = self.lines.recv().await {
                rest += &line;
                rest.push('\n');
            }
            rest
        };
        let rest = soon("the end", rest).await;
        assert!(self.child.wait().unwrap().success(), "{rest}");
        rest
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.file);
    }
}

/// A name for a file that no other test has.
pub(crate) fn fresh_file() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("dns-{}-{number}.json", std::process::id()))
}
