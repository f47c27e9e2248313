use std::{
    fmt::{Debug, Display},
    hash::Hash,
};

/// What identifies a replica. Two replicas with one address are one replica.
///
/// Implemented for everything that can be: `SocketAddr`, `String`, a type of your own.
pub trait Address: Clone + Eq + Hash + Debug + Display + Send + Sync + 'static {}

impl<T: Clone + Eq + Hash + Debug + Display + Send + Sync + 'static> Address for T {}
