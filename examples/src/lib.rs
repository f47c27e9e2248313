//! What the programs share.

pub mod gateway;
pub mod keys;
pub mod process;
pub mod remote;
pub mod sockets;
pub mod transport;
pub mod wire;

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

#[cfg(test)]
mod tests {
    #[test]
    fn the_guide_to_strategies_shows_the_strategy_of_the_program() {
        let guide = include_str!("../../docs/writing-a-strategy.md").replace("\r\n", "\n");
        let program = include_str!("bin/custom-strategy/consecutive_failures.rs").replace("\r\n", "\n");
        let (code, _) = program.split_once("#[cfg(test)]").unwrap_or((&program, ""));
        let (_, code) = code.split_once("\n\n").unwrap_or_default();
        assert!(code.contains("impl Strategy for"));
        assert!(guide.contains(code.trim()), "copy the strategy into the guide, without its first comment");
    }
}
