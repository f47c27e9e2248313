//! Where in a file the blocks are.

use super::{
    Block, BlockConfig, ConfigError, Document, Fault,
    node::{Member, Node},
    pointer::{self, joined, twice},
};

const BREAKER: &str = "circuitBreaker";

/// The objects that a block may stand in: the file itself, and two places inside.
const PARENTS: [&[&str]; 3] = [&[], &["solverRemote"], &["solver", "remote"]];

/// The blocks of a [`Document`]: `circuitBreaker`, and what stands beside it.
#[derive(Debug)]
pub struct Blocks<'d> {
    document: &'d Document,
    breaker: Block<'d>,
    beside: Beside<'d>,
}

#[derive(Debug)]
enum Beside<'d> {
    /// In the object that holds `circuitBreaker`; anywhere else would be a mistake.
    With { parent: &'d Node, path: String },
    /// In this object or array, as a pointer says. The file may hold other pools elsewhere.
    Pointed { parent: &'d Node, path: String },
    /// In any of the three places, since there is no `circuitBreaker`.
    Anywhere,
    /// Nowhere: the whole file is the `circuitBreaker` block.
    Nowhere,
}

impl Document {
    /// Finds the blocks: `circuitBreaker` at the root, at `solverRemote.circuitBreaker` or at
    /// `solver.remote.circuitBreaker`. A `null` counts as no block.
    ///
    /// # Errors
    ///
    /// When there are blocks in two places, or a key on the way is written twice.
    pub fn blocks(&self) -> Result<Blocks<'_>, ConfigError> {
        let Some(root) = self.root() else { return Ok(Blocks::none(self)) };
        if root.members().is_none() {
            let message = format!("the file holds {}; allowed: an object", root.sort());
            return Err(self.fault(root.start, message).into());
        }
        match single(self, root, BREAKER)? {
            None => Ok(Blocks::none(self)),
            Some(Hit { path, member, parent, parent_path }) => Ok(Blocks {
                document: self,
                breaker: Block::new(self, path, member.start, Some(&member.value)),
                beside: Beside::With { parent, path: parent_path },
            }),
        }
    }

    /// Takes for the `circuitBreaker` block what a JSON pointer (RFC 6901) points to, as `/upstreams/0/breaker`;
    /// the usual places are not looked at. In an absent file every pointer finds an absent block.
    ///
    /// # Errors
    ///
    /// When it points to nothing, or is no pointer.
    pub fn blocks_at(&self, pointer: &str) -> Result<Blocks<'_>, ConfigError> {
        let Some(root) = self.root() else { return Ok(Blocks::none(self)) };
        let found = pointer::follow(self, root, pointer)?;
        Ok(Blocks {
            document: self,
            breaker: Block::new(self, found.path, found.start, Some(found.node)),
            beside: found.parent.map_or(Beside::Nowhere, |(parent, path)| Beside::Pointed { parent, path }),
        })
    }
}

impl<'d> Blocks<'d> {
    fn none(document: &'d Document) -> Self {
        Self { document, breaker: Block::absent(document, BREAKER), beside: Beside::Anywhere }
    }

    /// The `circuitBreaker` block; absent where the file has none.
    pub fn breaker(&self) -> &Block<'d> {
        &self.breaker
    }

    /// The block of another name that stands in the same object as `circuitBreaker`. Without a
    /// `circuitBreaker`, it may stand in any of the three places where that would.
    ///
    /// # Errors
    ///
    /// When it is found twice, or in another of the three places than `circuitBreaker`, where it would be
    /// overlooked.
    pub fn beside(&self, name: &str) -> Result<Block<'d>, ConfigError> {
        let absent = Block::absent(self.document, name);
        let Some(root) = self.document.root() else { return Ok(absent) };
        let hit = match &self.beside {
            Beside::Nowhere => None,
            Beside::Anywhere => single(self.document, root, name)?,
            Beside::Pointed { parent, path } => hits_in(self.document, parent, path, name)?.pop(),
            Beside::With { parent, path } => {
                let hit = hits_in(self.document, parent, path, name)?.pop();
                if hit.is_none() {
                    self.none_elsewhere(root, path, name)?;
                }
                hit
            }
        };
        Ok(hit.map_or(absent, |hit| {
            Block::new(self.document, hit.path, hit.member.start, Some(&hit.member.value))
        }))
    }

    /// Reads the block that stands [beside](Self::beside) `circuitBreaker` as settings of type `C`.
    ///
    /// # Errors
    ///
    /// When it stands in the wrong place, or with everything that is wrong with it.
    pub fn read_beside<C: BlockConfig>(&self) -> Result<C, ConfigError> {
        self.beside(C::NAME)?.read()
    }

    fn none_elsewhere(&self, root: &Node, path: &str, name: &str) -> Result<(), ConfigError> {
        let Some(stray) = single(self.document, root, name)? else { return Ok(()) };
        let message = format!("stands apart from {}; allowed: {}", self.breaker.path(), joined(path, name));
        Err(Fault { path: stray.path, ..self.document.fault(stray.member.start, message) }.into())
    }
}

/// A block that was found.
struct Hit<'d> {
    path: String,
    member: &'d Member,
    parent: &'d Node,
    parent_path: String,
}

/// The one block of that name in the three places.
fn single<'d>(document: &Document, root: &'d Node, name: &str) -> Result<Option<Hit<'d>>, ConfigError> {
    let mut hits = Vec::new();
    for segments in PARENTS {
        hits.extend(descend(document, root, "", segments, name)?);
    }
    hits.sort_by_key(|hit| hit.member.start);
    let mut hits = hits.into_iter();
    let (Some(earlier), later) = (hits.next(), hits.next()) else { return Ok(None) };
    let Some(later) = later else { return Ok(Some(earlier)) };
    let (line, column) = document.position(earlier.member.start);
    let message =
        format!("a second {name} block; the first is {} at line {line}, column {column}", earlier.path);
    Err(Fault { path: later.path, ..document.fault(later.member.start, message) }.into())
}

/// The blocks of that name below `node`, `segments` down. A key on the way that is written twice is an error
/// only if it leads to a block: all else is the application's.
fn descend<'d>(
    document: &Document,
    node: &'d Node,
    path: &str,
    segments: &[&str],
    name: &str,
) -> Result<Vec<Hit<'d>>, ConfigError> {
    let Some((segment, rest)) = segments.split_first() else { return hits_in(document, node, path, name) };
    let mut found = Vec::new();
    let ways: Vec<_> =
        node.members().unwrap_or_default().iter().filter(|member| member.key == *segment).collect();
    for way in &ways {
        found.extend(descend(document, &way.value, &joined(path, segment), rest, name)?);
    }
    match ways.as_slice() {
        [first, second, ..] if !found.is_empty() => {
            Err(twice(document, first.start, second.start, joined(path, segment)).into())
        }
        _ => Ok(found),
    }
}

/// The block of that name right in `node`, unless it is `null`.
fn hits_in<'d>(
    document: &Document,
    node: &'d Node,
    path: &str,
    name: &str,
) -> Result<Vec<Hit<'d>>, ConfigError> {
    let members: Vec<_> =
        node.members().unwrap_or_default().iter().filter(|member| member.key == name).collect();
    if let [first, second, ..] = members.as_slice() {
        return Err(twice(document, first.start, second.start, joined(path, name)).into());
    }
    let hits = members.into_iter().filter(|member| !member.value.is_null()).map(|member| Hit {
        path: joined(path, name),
        member,
        parent: node,
        parent_path: path.to_owned(),
    });
    Ok(hits.collect())
}
