use replica_pool::config::HedgeAfter;

use super::*;

fn read(text: &str) -> anyhow::Result<Settings> {
    Settings::from_text("forwarder.json", text, None, Overrides::default())
}

fn servers(text: &str) -> Vec<String> {
    read(text).unwrap().servers.iter().map(ToString::to_string).collect()
}

fn fault(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

#[test]
fn the_first_version_wrote_octets_and_no_version() {
    assert_eq!(servers(r#"{ "remoteDnsServers": [[10,0,0,10],[8,8,8,8]] }"#), ["10.0.0.10:53", "8.8.8.8:53"]);
    let v6 = r#"{ "version": 1, "remoteDnsServers": [[32,1,13,184,0,0,0,0,0,0,0,0,0,0,0,1]] }"#;
    assert_eq!(servers(v6), ["[2001:db8::1]:53"]);
}

#[test]
fn the_second_version_writes_text_and_keeps_the_block_in_solver_remote() {
    let settings = read(
        r#"{ "version": 2, "remoteDnsServers": ["10.0.0.10", "8.8.8.8:5353", "[2001:db8::1]:54", "2001:db8::2"],
             "noRemoteServers": null,
             "solverRemote": { "circuitBreaker": { "failureThreshold": 4, "testDelay": "PT1M" } } }"#,
    )
    .unwrap();
    let servers: Vec<_> = settings.servers.iter().map(ToString::to_string).collect();
    assert_eq!(servers, ["10.0.0.10:53", "8.8.8.8:5353", "[2001:db8::1]:54", "[2001:db8::2]:53"]);
    assert_eq!(settings.breaker.effective()["failureThreshold"], 4);
}

#[test]
fn the_third_version_keeps_both_in_solver_remote() {
    let settings = read(
        r#"{ "version": 3, "server": { "dns": { "port": 53 } }, "solver": { "remote": { "active": true,
             "dnsServers": ["8.8.8.8:53"], "circuitBreaker": { "type": "CANARY_RATE_THRESHOLD" } } } }"#,
    )
    .unwrap();
    assert_eq!(settings.servers, ["8.8.8.8:53".parse().unwrap()]);
    assert_eq!(settings.breaker.name(), "CANARY_RATE_THRESHOLD");
}

#[test]
fn remotes_that_are_switched_off_are_not_asked() {
    assert!(
        servers(r#"{ "version": 2, "remoteDnsServers": ["8.8.8.8"], "noRemoteServers": true }"#).is_empty()
    );
    let third = r#"{ "version": 3, "solver": { "remote": { "active": false, "dnsServers": ["8.8.8.8"] } } }"#;
    assert!(servers(third).is_empty());
}

#[test]
fn what_can_not_be_read_is_named_with_what_could() {
    let unknown = fault(r#"{ "version": 4, "remoteDnsServers": ["8.8.8.8"] }"#);
    assert_eq!(unknown, "forwarder.json: version: 4 is not known; known are 1, 2 and 3");
    let missing = fault(r#"{ "version": 3, "remoteDnsServers": ["8.8.8.8"] }"#);
    assert!(missing.contains("solver.remote.dnsServers is missing"), "{missing}");
    let name = fault(r#"{ "remoteDnsServers": ["8.8.8.8", "dns.example"] }"#);
    assert!(name.contains(r#"remoteDnsServers[1]: "dns.example" is not an address"#), "{name}");
    assert!(fault(r#"{ "remoteDnsServers": [[1,2,3,256]] }"#).contains("[1,2,3,256] is not an address"));
    assert!(fault(r#"{ "remoteDnsServers": ["8.8.8.8:0"] }"#).contains("is not an address"));
    assert!(fault(r#"{ "remoteDnsServers": "8.8.8.8" }"#).contains("is not a list"));
    assert!(fault(r#"{ "noRemoteServers": "yes" }"#).contains("is not true or false"));
}

#[test]
fn nothing_and_null_are_the_defaults_of_the_program_and_a_long_time_switches_rivals_off() {
    let hedging = |block: &str| {
        let text = format!(r#"{{ "remoteDnsServers": ["8.8.8.8"], "replicaPool": {block} }}"#);
        read(&text).unwrap().pool.hedge_after()
    };
    assert_eq!(hedging("{}"), Some(HedgeAfter::Adaptive));
    assert_eq!(hedging(r#"{ "hedgeAfter": null }"#), Some(HedgeAfter::Adaptive));
    assert_eq!(hedging(r#"{ "hedgeAfter": "1h" }"#), Some(HedgeAfter::span(Duration::from_secs(3_600))));
}

#[test]
fn the_command_line_beats_the_file_and_the_file_beats_the_defaults() {
    let text = r#"{ "remoteDnsServers": ["8.8.8.8"], "replicaPool": { "attemptTimeout": "2s" } }"#;
    let overrides = Overrides { order: Some(Order::Shuffled), ..Overrides::default() };
    let plain = read(text).unwrap().pool;
    let beaten = Settings::from_text("forwarder.json", text, None, overrides).unwrap().pool;
    assert_eq!((plain.order(), beaten.order()), (Order::Listed, Order::Shuffled));
    assert_eq!(plain.attempt_timeout(), Duration::from_secs(2));
    assert_eq!(plain.deadline(), Duration::from_secs(4));
}
