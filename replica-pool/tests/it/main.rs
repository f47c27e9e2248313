//! Integration tests of the pool.

mod config;
