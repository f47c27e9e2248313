//! Where files of each age keep the upstream servers, and how they write them.

use std::net::{IpAddr, SocketAddr};

use serde_json::Value;

const DNS: u16 = 53;

/// What is wrong with a file's servers, and where.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("version: {0} is not known; known are 1, 2 and 3")]
    Version(Value),
    #[error("there are no servers to ask: {0} is missing or empty")]
    None(&'static str),
    #[error("{place}: {value} is not {allowed}")]
    Value { place: String, value: Value, allowed: &'static str },
}

/// The servers in their order; none where the file says that none are to be asked.
pub(super) fn of(file: &Value) -> Result<Vec<SocketAddr>, Fault> {
    let (servers, off) = match version(file)? {
        3 => ("solver.remote.dnsServers", ("solver.remote.active", false)),
        _ => ("remoteDnsServers", ("noRemoteServers", true)),
    };
    if switch(file, off.0)? == Some(off.1) {
        return Ok(Vec::new());
    }
    let list = match at(file, servers) {
        Value::Null => return Err(Fault::None(servers)),
        Value::Array(list) if list.is_empty() => return Err(Fault::None(servers)),
        Value::Array(list) => list,
        other => {
            let (place, value) = (servers.to_owned(), other.clone());
            return Err(Fault::Value { place, value, allowed: "a list" });
        }
    };
    let mut found = Vec::new();
    for (index, server) in list.iter().enumerate() {
        let address = address(server).ok_or_else(|| Fault::Value {
            place: format!("{servers}[{index}]"),
            value: server.clone(),
            allowed: "an address, as \"192.0.2.1\", \"192.0.2.1:53\", \"2001:db8::1\", \"[2001:db8::1]:53\" or \
                      [192, 0, 2, 1]",
        })?;
        if !found.contains(&address) {
            found.push(address);
        }
    }
    Ok(found)
}

/// Files of the first version don't name it.
fn version(file: &Value) -> Result<u8, Fault> {
    let version = at(file, "version");
    if version.is_null() {
        return Ok(1);
    }
    let known = [1_u8, 2, 3].into_iter().find(|known| version.as_f64() == Some(f64::from(*known)));
    known.ok_or_else(|| Fault::Version(version.clone()))
}

fn switch(file: &Value, place: &str) -> Result<Option<bool>, Fault> {
    match at(file, place) {
        Value::Null => Ok(None),
        Value::Bool(value) => Ok(Some(*value)),
        other => {
            let (place, value) = (place.to_owned(), other.clone());
            Err(Fault::Value { place, value, allowed: "true or false" })
        }
    }
}

/// What stands at a place; `null` also when there is nothing.
fn at<'v>(file: &'v Value, place: &str) -> &'v Value {
    place.split('.').try_fold(file, |value, key| value.get(key)).unwrap_or(&Value::Null)
}

fn address(written: &Value) -> Option<SocketAddr> {
    match written {
        Value::String(text) => parse(text.trim()),
        Value::Array(octets) => {
            let octets: Option<Vec<u8>> = octets
                .iter()
                .map(|octet| octet.as_u64().and_then(|octet| u8::try_from(octet).ok()))
                .collect();
            let octets = octets?;
            let v4 = || <[u8; 4]>::try_from(octets.as_slice()).map(IpAddr::from);
            let v6 = || <[u8; 16]>::try_from(octets.as_slice()).map(IpAddr::from);
            let ip = v4().or_else(|_| v6()).ok()?;
            Some(SocketAddr::new(ip, DNS))
        }
        _ => None,
    }
}

fn parse(text: &str) -> Option<SocketAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let bare = bare.parse().ok().map(|ip: IpAddr| SocketAddr::new(ip, DNS));
    bare.or_else(|| text.parse().ok()).filter(|address| address.port() != 0)
}
