//! JSON pointers (RFC 6901) into a [`Document`].

use super::{
    ConfigError, Document, Fault,
    node::{Kind, Node},
};

/// What a pointer points to, and what that stands in.
pub(super) struct Pointed<'d> {
    pub(super) node: &'d Node,
    /// As in `servers[0].breaker`.
    pub(super) path: String,
    /// Where the key begins, or the value where there is no key.
    pub(super) start: usize,
    /// The object or array that holds it, and its path; `None` for the whole document.
    pub(super) parent: Option<(&'d Node, String)>,
}

pub(super) fn follow<'d>(
    document: &Document,
    root: &'d Node,
    pointer: &str,
) -> Result<Pointed<'d>, ConfigError> {
    let bad = |start, reason: String| {
        ConfigError::from(document.fault(start, format!("the pointer {pointer:?} {reason}")))
    };
    let mut at = Pointed { node: root, path: String::new(), start: root.start, parent: None };
    if pointer.is_empty() {
        return Ok(at);
    }
    let Some(tokens) = pointer.strip_prefix('/') else {
        return Err(bad(0, "is not empty and does not begin with a slash".to_owned()));
    };
    for token in tokens.split('/') {
        let Some(token) = unescaped(token) else {
            return Err(bad(0, "has a ~ that is neither ~0 nor ~1".to_owned()));
        };
        at = step(document, &at, &token).ok_or_else(|| {
            let place = if at.path.is_empty() { "the file" } else { at.path.as_str() };
            bad(at.start, format!("points to nothing: {place} has no {token:?}"))
        })??;
    }
    Ok(at)
}

/// One token further; `None` where there is nothing, an error where a key is written twice.
fn step<'d>(document: &Document, at: &Pointed<'d>, token: &str) -> Option<Result<Pointed<'d>, ConfigError>> {
    let here: &'d Node = at.node;
    let parent = Some((here, at.path.clone()));
    match &here.kind {
        Kind::Object(members) => {
            let mut found = members.iter().filter(|member| member.key == token);
            let member = found.next()?;
            let path = joined(&at.path, token);
            if let Some(again) = found.next() {
                return Some(Err(twice(document, member.start, again.start, path).into()));
            }
            Some(Ok(Pointed { node: &member.value, path, start: member.start, parent }))
        }
        Kind::Array(elements) => {
            let plain =
                token.bytes().all(|byte| byte.is_ascii_digit()) && (token == "0" || !token.starts_with('0'));
            let node = elements.get(plain.then(|| token.parse::<usize>().ok())??)?;
            Some(Ok(Pointed { node, path: format!("{}[{token}]", at.path), start: node.start, parent }))
        }
        _ => None,
    }
}

/// The fault of a key that stands in one object twice.
pub(super) fn twice(document: &Document, first: usize, second: usize, path: String) -> Fault {
    let (line, column) = document.position(first);
    let message = format!("duplicate key; the first is at line {line}, column {column}");
    Fault { path, ..document.fault(second, message) }
}

/// `path.key`.
pub(super) fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn unescaped(token: &str) -> Option<String> {
    let mut chars = token.chars();
    let mut plain = String::new();
    while let Some(c) = chars.next() {
        plain.push(match c {
            '~' => match chars.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            },
            c => c,
        });
    }
    Some(plain)
}
