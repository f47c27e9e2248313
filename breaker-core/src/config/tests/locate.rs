use super::{name, registry, sample::Beside};
use crate::config::{ConfigError, Document};

fn path(text: &str) -> Result<String, ConfigError> {
    let document = Document::parse("f", text)?;
    let blocks = document.blocks()?;
    Ok(if blocks.breaker().is_absent() { "absent".to_owned() } else { blocks.breaker().path().to_owned() })
}

fn path_at(text: &str, pointer: &str) -> Result<String, String> {
    let document = Document::parse("f", text).unwrap();
    let blocks = document.blocks_at(pointer).map_err(|error| error.to_string())?;
    Ok(blocks.breaker().path().to_owned())
}

fn beside(text: &str) -> Result<Option<u32>, String> {
    let document = Document::parse("f", text).unwrap();
    let read = document.blocks().and_then(|blocks| blocks.read_beside::<Beside>());
    read.map(|beside| beside.size).map_err(|error| error.to_string())
}

#[test]
fn the_block_is_found_in_three_places() {
    assert_eq!(path(r#"{"circuitBreaker": {}}"#).unwrap(), "circuitBreaker");
    assert_eq!(path(r#"{"solverRemote": {"circuitBreaker": {}}}"#).unwrap(), "solverRemote.circuitBreaker");
    assert_eq!(
        path(r#"{"solver": {"remote": {"circuitBreaker": {}}}}"#).unwrap(),
        "solver.remote.circuitBreaker"
    );
    assert_eq!(path(r#"{"elsewhere": {"circuitBreaker": 5}}"#).unwrap(), "absent");
}

#[test]
fn what_is_not_there_or_null_is_absent_and_reads_as_the_default_strategy() {
    for text in [
        "{}",
        r#"{"circuitBreaker": null}"#,
        r#"{"circuitBreaker": null, "solverRemote": {"circuitBreaker": null}}"#,
        r#"{"solver": 5}"#,
        r#"{"solver": {"remote": [1]}, "solverRemote": null}"#,
        r#"{"solver": {"remote": null}}"#,
    ] {
        assert_eq!(path(text).unwrap(), "absent", "{text}");
        let document = Document::parse("f", text).unwrap();
        let resolved = registry().resolve(document.blocks().unwrap().breaker()).unwrap();
        assert_eq!(name(&resolved.blueprint), "SAMPLE");
    }
    let absent = Document::absent("f");
    assert!(registry().resolve(absent.blocks().unwrap().breaker()).is_ok());
    assert!(absent.blocks_at("/any/where").unwrap().breaker().is_absent());
    assert_eq!(absent.blocks().unwrap().read_beside::<Beside>(), Ok(Beside::default()));
}

#[test]
fn blocks_in_two_places_are_an_error_that_names_both() {
    let text = "{\n  \"solver\": {\"remote\": {\"circuitBreaker\": {}}},\n  \"circuitBreaker\": {} }";
    assert_eq!(
        path(text).unwrap_err().to_string(),
        "f:3:3: circuitBreaker: a second circuitBreaker block; \
         the first is solver.remote.circuitBreaker at line 2, column 25"
    );
    let null_and_block = r#"{"circuitBreaker": null, "solverRemote": {"circuitBreaker": {}}}"#;
    assert_eq!(path(null_and_block).unwrap(), "solverRemote.circuitBreaker", "null is no block");
}

#[test]
fn a_key_on_the_way_that_is_written_twice_is_an_error_where_it_leads_to_a_block() {
    let said = |text| path(text).unwrap_err().to_string();
    assert_eq!(
        said(r#"{"circuitBreaker": {}, "circuitBreaker": null}"#),
        "f:1:24: circuitBreaker: duplicate key; the first is at line 1, column 2"
    );
    assert_eq!(
        said(r#"{"solver": {"remote": {"circuitBreaker": {}}}, "solver": 5}"#),
        "f:1:48: solver: duplicate key; the first is at line 1, column 2"
    );
    assert_eq!(path(r#"{"solver": 1, "solver": 2, "circuitBreaker": {}}"#).unwrap(), "circuitBreaker");
}

#[test]
fn a_file_that_is_no_object_is_an_error() {
    assert_eq!(path("[]").unwrap_err().to_string(), "f:1:1: the file holds an array; allowed: an object");
    assert_eq!(path(" null").unwrap_err().to_string(), "f:1:2: the file holds null; allowed: an object");
}

#[test]
fn a_pointer_beats_the_usual_places() {
    let text = r#"{"circuitBreaker": {}, "solverRemote": {"circuitBreaker": {}},
        "a": {"x/y": [{}, {"b~c": {}}], "": {}}}"#;
    assert_eq!(path_at(text, "/a/x~1y/1/b~0c"), Ok("a.x/y[1].b~c".to_owned()));
    assert_eq!(path_at(text, "/a/"), Ok("a.".to_owned()), "an empty key is a key");
    assert_eq!(path_at(text, ""), Ok(String::new()), "the whole file");
    assert_eq!(path_at("[{}]", "/0"), Ok("[0]".to_owned()));
}

#[test]
fn a_pointer_to_nothing_is_an_error_that_names_it() {
    let text = r#"{"a": {"list": [1], "b": null}}"#;
    assert_eq!(
        path_at(text, "/a/c").unwrap_err(),
        r#"f:1:2: the pointer "/a/c" points to nothing: a has no "c""#
    );
    assert_eq!(
        path_at(text, "/x/c").unwrap_err(),
        r#"f:1:1: the pointer "/x/c" points to nothing: the file has no "x""#
    );
    for pointer in ["/a/list/1", "/a/list/-", "/a/list/00", "/a/list/+0", "/a/list/0/z", "/a/b/c", "/a/"] {
        assert!(path_at(text, pointer).unwrap_err().contains("points to nothing"), "{pointer}");
    }
    assert_eq!(path_at(text, "/a/b"), Ok("a.b".to_owned()), "null is there");
}

#[test]
fn what_is_no_pointer_is_an_error() {
    assert!(
        path_at("{}", "a").unwrap_err().contains(r#"the pointer "a" is not empty and does not begin with"#)
    );
    assert!(path_at("{}", "/~2").unwrap_err().contains("neither ~0 nor ~1"));
    assert!(path_at("{}", "/a~").unwrap_err().contains("neither ~0 nor ~1"));
    assert!(path_at(r#"{"a": 1, "a": 2}"#, "/a").unwrap_err().contains("duplicate key"));
}

#[test]
fn the_block_beside_stands_in_the_same_object() {
    assert_eq!(beside(r#"{"circuitBreaker": {}, "beside": {"size": 3}}"#), Ok(Some(3)));
    assert_eq!(
        beside(r#"{"solver": {"remote": {"beside": {"size": 4}, "circuitBreaker": {}}}}"#),
        Ok(Some(4))
    );
    assert_eq!(beside(r#"{"circuitBreaker": {}}"#), Ok(None));
    assert_eq!(beside(r#"{"circuitBreaker": {}, "beside": null}"#), Ok(None));
    assert_eq!(beside(r#"{"circuitBreaker": {}, "elsewhere": {"beside": 5}}"#), Ok(None));
}

#[test]
fn without_a_breaker_the_block_beside_may_stand_in_any_of_the_three_places() {
    assert_eq!(beside(r#"{"beside": {"size": 1}}"#), Ok(Some(1)));
    assert_eq!(beside(r#"{"circuitBreaker": null, "solverRemote": {"beside": {"size": 2}}}"#), Ok(Some(2)));
    assert_eq!(beside(r#"{"solver": {"remote": {"beside": {"size": 3}}}}"#), Ok(Some(3)));
    assert_eq!(
        beside(r#"{"beside": {}, "solverRemote": {"beside": {}}}"#),
        Err("f:1:33: solverRemote.beside: a second beside block; the first is beside at line 1, column 2"
            .to_owned())
    );
}

#[test]
fn a_block_beside_that_stands_apart_would_be_overlooked_and_is_an_error() {
    assert_eq!(
        beside(r#"{"solverRemote": {"circuitBreaker": {}}, "beside": {"size": 1}}"#),
        Err("f:1:42: beside: stands apart from solverRemote.circuitBreaker; allowed: solverRemote.beside"
            .to_owned())
    );
}

#[test]
fn beside_a_pointed_block_is_its_own_object_only() {
    let text = r#"{"beside": {"size": 1}, "a": [{"b": {}, "beside": {"size": 2}}, {"b": {}}, 3]}"#;
    let document = Document::parse("f", text).unwrap();
    let size = |pointer| document.blocks_at(pointer).unwrap().read_beside::<Beside>().unwrap().size;
    assert_eq!(size("/a/0/b"), Some(2));
    assert_eq!(size("/a/1/b"), None);
    assert_eq!(size("/a/2"), None, "an array holds nothing beside");
    assert_eq!(size(""), None);
}
