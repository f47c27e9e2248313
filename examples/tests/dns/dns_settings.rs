//! Settings files of all ages.

use std::process::Command;

use hickory_net::proto::op::ResponseCode;

use crate::kit::{Program, Server, address, last_of, over_udp};

/// A file of the old proxy, as the tests of the pool have it.
fn old(name: &str) -> String {
    let file = format!("{}/../replica-pool/tests/configs/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(file).unwrap()
}

#[tokio::test]
async fn old_files_of_all_versions_are_read_as_they_are() {
    for (file, servers) in [
        ("v1-no-version.json", "10.0.0.10:53, 8.8.8.8:53"),
        ("v2-before-breakers.json", "10.0.0.10:53, 8.8.8.8:53"),
        ("v2-old-block.json", "10.0.0.10:53, 8.8.8.8:53"),
        ("v2-resaved-numbers.json", "8.8.8.8:53"),
        ("v3-type.json", "8.8.8.8:53"),
    ] {
        let mut program = Program::started(&old(file), &[]);
        assert!(program.says("servers:").await.ends_with(&format!("servers: {servers}")), "{file}");
        program.says("listening at").await;
    }
}

#[tokio::test]
async fn servers_of_the_third_version_are_asked() {
    let server = Server::start(|query, _| vec![address(query, 3)]).await;
    let file = format!(
        r#"{{ "version": 3, "solver": {{ "remote": {{ "active": true, "dnsServers": ["{}"],
              "circuitBreaker": {{ "type": "CANARY_RATE_THRESHOLD", "failureRateThreshold": 30 }} }} }} }}"#,
        server.address
    );
    let program = Program::reading(&file, &[]).await;
    assert_eq!(last_of(&over_udp(program.address, "example.org.").await), Some(3));
}

#[tokio::test]
async fn servers_that_are_switched_off_are_not_asked() {
    let server = Server::start(|query, _| vec![address(query, 1)]).await;
    let address = server.address;
    for file in [
        format!(r#"{{ "version": 2, "remoteDnsServers": ["{address}"], "noRemoteServers": true }}"#),
        format!(
            r#"{{ "version": 3, "solver": {{ "remote": {{ "active": false, "dnsServers": ["{address}"] }} }} }}"#
        ),
    ] {
        let program = Program::reading(&file, &[]).await;
        let answer = over_udp(program.address, "example.org.").await;
        assert_eq!(answer.response_code, ResponseCode::ServFail);
    }
    assert!(server.seen().is_empty());
}

#[test]
fn a_file_that_can_not_be_used_is_an_error_that_says_why() {
    for (content, words) in [
        (r#"{ "version": 4, "remoteDnsServers": ["8.8.8.8"] }"#, "4 is not known; known are 1, 2 and 3"),
        (r#"{ "version": 2 }"#, "remoteDnsServers is missing"),
        (
            r#"{ "remoteDnsServers": ["8.8.8.8"], "circuitBreaker": { "strategy": "MAGIC" } }"#,
            "STATIC_THRESHOLD",
        ),
        (
            r#"{ "remoteDnsServers": ["8.8.8.8"], "replicaPool": { "ordr": 1 }, "circuitBreaker": {} }"#,
            "order",
        ),
    ] {
        let file = crate::kit::fresh_file();
        std::fs::write(&file, content).unwrap();
        let output =
            Command::new(env!("CARGO_BIN_EXE_dns-forwarder")).arg("--config").arg(&file).output().unwrap();
        std::fs::remove_file(&file).unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{content}");
        assert!(err.contains(words) && err.contains(file.to_str().unwrap()), "{err}");
    }
}

#[tokio::test]
async fn without_arguments_it_brings_its_servers_along() {
    let mut program = Program::bare().await;
    program.says("dig @127.0.0.1").await;
    let answer = over_udp(program.address, "example.org.").await;
    assert!(matches!(last_of(&answer), Some(2..=4)), "the first server is dead: {answer:?}");
    #[cfg(unix)]
    assert!(program.end().await.contains("1 queries answered"));
}
