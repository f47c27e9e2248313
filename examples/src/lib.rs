//! What the programs share.

/// The Rust code in the front page and the guides is compiled and run with the tests.
#[cfg(doctest)]
mod guides {
    #[doc = include_str!("../../README.md")]
    struct Readme;
    #[doc = include_str!("../../docs/architecture.md")]
    struct Architecture;
    #[doc = include_str!("../../docs/configuration.md")]
    struct Configuration;
    #[doc = include_str!("../../docs/partitions.md")]
    struct Partitions;
    #[doc = include_str!("../../docs/writing-a-strategy.md")]
    struct WritingAStrategy;
}
