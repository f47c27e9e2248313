//! Another list of servers while queries go on.

use crate::kit::{Program, Server, address, last_of, over_udp};

fn file(servers: &[&Server]) -> String {
    let servers: Vec<_> = servers.iter().map(|server| server.address.to_string()).collect();
    format!(r#"{{ "remoteDnsServers": {servers:?} }}"#)
}

#[tokio::test]
async fn a_changed_file_is_read_again() {
    let first = Server::start(|query, _| vec![address(query, 1)]).await;
    let second = Server::start(|query, _| vec![address(query, 2)]).await;
    let mut program = Program::reading(&file(&[&first]), &[]).await;
    assert_eq!(last_of(&over_udp(program.address, "example.org.").await), Some(1));

    std::fs::write(&program.file, file(&[&second, &first])).unwrap();
    let line = program.says("was read again; servers:").await;
    assert!(line.ends_with(&format!("servers: {}, {}", second.address, first.address)), "{line}");
    assert_eq!(last_of(&over_udp(program.address, "example.org.").await), Some(2));

    std::fs::write(&program.file, r#"{ "version": 9 }"#).unwrap();
    program.says("can't be used, the old settings stay").await;
    assert_eq!(last_of(&over_udp(program.address, "example.org.").await), Some(2));
}

#[cfg(unix)]
#[tokio::test]
async fn a_signal_reads_the_file_again() {
    let server = Server::start(|query, _| vec![address(query, 1)]).await;
    let mut program = Program::reading(&file(&[&server]), &[]).await;
    program.signal("HUP");
    program.says("was read again; nothing has changed").await;
    assert_eq!(last_of(&over_udp(program.address, "example.org.").await), Some(1));
}
