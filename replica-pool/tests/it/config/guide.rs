//! `docs/configuration.md` tells the truth.

use std::fs;

use replica_pool::config::{Config, builtin};

fn guide() -> String {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/configuration.md");
    fs::read_to_string(file).unwrap().replace("\r\n", "\n")
}

/// The first block of code in that language.
fn code<'g>(text: &'g str, language: &str) -> &'g str {
    let (_, rest) = text.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_guide_shows_what_a_mistake_looks_like() {
    let guide = guide();
    let (_, section) = guide.split_once("## What a mistake looks like").unwrap();
    let error = Config::from_text("app.json", code(section, "jsonc")).unwrap_err();
    assert_eq!(format!("{error}\n"), code(section, "text"));
}

#[test]
fn the_example_of_the_guide_is_right() {
    let config = Config::from_text("app.json", code(&guide(), "jsonc")).unwrap();
    assert_eq!(config.effective()["circuitBreaker"]["failureRateThreshold"], 30);
    assert_eq!(config.effective()["replicaPool"]["attemptTimeout"], "PT2S");
}

#[test]
fn the_guide_has_a_row_for_every_key_with_its_default() {
    let (guide, schema) = (guide(), builtin().schema());
    for block in ["STATIC_THRESHOLD", "CANARY_RATE_THRESHOLD", "replicaPool"] {
        let (_, section) = guide
            .split_once(&format!("{block}\"`\n"))
            .unwrap_or_else(|| guide.split_once(&format!("## `{block}`\n")).unwrap());
        let section = section.split("\n##").next().unwrap();
        for (key, property) in schema["$defs"][block]["properties"].as_object().unwrap() {
            if property.is_boolean() {
                continue;
            }
            let row = section.lines().find(|line| line.starts_with(&format!("| `{key}` |")));
            let row = row.unwrap_or_else(|| panic!("{block}.{key} has no row"));
            if let Some(default) = property.get("default").filter(|default| !default.is_object()) {
                let default = default.as_str().map_or_else(|| default.to_string(), str::to_owned);
                let column = row.split('|').nth(2).unwrap();
                assert!(column.contains(&default), "{block}.{key}: the default is {default}");
            }
        }
    }
}
