//! A partition splits under load, and the pools' callers notice nothing. What takes time here is looked at, not
//! asserted on.

use std::{path::PathBuf, process::Command};

use serde_json::Value;

/// Without a `refreshInterval`, so that the pools hear of the split from the old replicas.
const SETTINGS: &str = r#"{
    "static": {
        "circuitBreaker": { "strategy": "STATIC_THRESHOLD" },
        "replicaPool": { "deadline": "PT20S" },
    },
    "canary": {
        "circuitBreaker": { "strategy": "CANARY_RATE_THRESHOLD" },
        "replicaPool": { "deadline": "PT20S", "refreshInterval": "PT0.3S" },
    },
}"#;

#[test]
fn no_request_fails_and_no_410_leaves_a_pool_while_a_partition_splits() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("rolling-upgrade-split");
    std::fs::create_dir_all(&folder).unwrap();
    let settings = folder.join("settings.json");
    std::fs::write(&settings, SETTINGS).unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_rolling-upgrade"))
        .args(["--scenario", "split", "--quick", "--rate", "400", "--only", "plain,static,canary"])
        .arg("--config")
        .arg(&settings)
        .arg("--out")
        .arg(&folder)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&std::fs::read(folder.join("report.json")).unwrap()).unwrap();

    for pool in ["static", "canary"] {
        let numbers = &report[pool];
        // 0.5 s, the split's 0.5 s and 1.5 s, 0.5 s: 3 s of 400 requests each.
        let count = |name: &str| numbers[name].as_u64().unwrap();
        assert_eq!(count("requests"), 1_200);
        assert_eq!((count("failed"), count("status_410_404")), (0, 0), "{pool}: {numbers}");
        assert_eq!(count("maps_fetched"), 1, "{pool}: {numbers}");
        let served: Vec<_> =
            numbers["served"].as_array().unwrap().iter().map(|served| served.as_u64()).collect();
        // The four replicas of each half come after the eight of the start.
        assert_eq!(served.len(), 16);
        assert!(served[8..].iter().flatten().sum::<u64>() > 0, "{pool}: {numbers}");
    }
    assert!(report["static"]["bad_attempts"].as_u64().unwrap() > 0, "410s reached it: {report}");
    assert!(report["plain"]["status_410_404"].as_u64().unwrap() > 0, "and left this one: {report}");
    assert!(run.status.success(), "{run:?}");
}
