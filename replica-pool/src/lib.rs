#![doc = include_str!("../README.md")]

mod acquire;
mod address;
mod attempt;
mod builder;
mod candidates;
mod codes;
pub mod config;
mod connector;
mod diagnostics;
mod directory;
mod error;
mod gateway;
mod health;
mod hedge;
mod kin;
mod lease;
mod order;
mod outlook;
mod partition;
mod partitioned;
mod pool;
mod probe;
mod quick;
mod recovery;
mod refresh;
mod refresher;
mod replica;
mod request;
mod route;
mod router;
mod routing_map;
mod set;
mod shared;
mod tasks;
mod validation;
mod verdict;
mod waiting;
mod walk;

pub use address::Address;
pub use attempt::Attempt;
pub use builder::{PoolBuilder, Unpartitioned};
pub use connector::{Connector, TcpConnector};
pub use diagnostics::{
    AttemptRecord, AttemptResult, Diagnostics, RefreshReason, RefreshRecord, Refreshed, ReplicaStatus,
    ReplicaStatusList,
};
pub use error::{AllOpen, BuildError, CallError, Cause, FailedAttempt, Unavailable};
pub use gateway::{DnsName, FixedList, Gateway, GatewayError, PartitionGateway};
pub use health::HealthStatus;
pub use lease::{Candidate, Lease};
pub use partitioned::{Partitioned, PartitionedPool};
pub use pool::{PoolSnapshot, ReplicaPool, ReplicaSnapshot};
pub use probe::TcpProbe;
pub use replica::Replica;
pub use request::Request;
pub use route::{ByKey, Direct};
pub use routing_map::{KeyRange, RoutingMap, RoutingMapError};
pub use set::ReplicaSet;
pub use verdict::{Gone, IoJudge, Judge, Next, Signal, Verdict, io_verdict};
