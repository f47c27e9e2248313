#![doc = include_str!("../README.md")]

mod address;
mod attempt;
mod builder;
pub mod config;
mod connector;
mod diagnostics;
mod directory;
mod error;
mod gateway;
mod health;
mod lease;
mod order;
mod partition;
mod pool;
mod probe;
mod refresh;
mod replica;
mod request;
mod set;
mod shared;
mod tasks;
mod validation;
mod verdict;
mod walk;

pub use address::Address;
pub use attempt::Attempt;
pub use builder::ReplicaPoolBuilder;
pub use connector::{Connector, TcpConnector};
pub use diagnostics::{
    AttemptRecord, AttemptResult, Diagnostics, RefreshReason, RefreshRecord, ReplicaStatus, ReplicaStatusList,
};
pub use error::{AllOpen, BuildError, CallError};
pub use gateway::{DnsName, FixedList, Gateway, GatewayError};
pub use health::HealthStatus;
pub use lease::{Candidate, Lease};
pub use pool::{PoolSnapshot, ReplicaPool, ReplicaSnapshot};
pub use probe::TcpProbe;
pub use replica::Replica;
pub use request::Request;
pub use set::ReplicaSet;
pub use verdict::{IoJudge, Judge, Next, Signal, Verdict, io_verdict};
