//! What is wrong with a file, and where.

use std::{
    fmt::{self, Write as _},
    io,
    path::PathBuf,
};

/// One thing that is wrong with a file, or, in a list of warnings, that was passed over.
///
/// Displays on one line: `app.json:3:12: circuitBreaker.failureRateTreshold: unknown key; did you mean
/// "failureRateThreshold"?`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// The file, as the caller named it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1. A byte-order mark is not counted. A fault of a key, or of its value,
    /// stands at the key.
    pub column: usize,
    /// The place in the document, as in `solverRemote.circuitBreaker.testDelay`; empty for the file as a whole.
    pub path: String,
    /// The value as it is written (cut short when long), where there is one.
    pub value: Option<String>,
    /// What is wrong, the value included where it is the value.
    pub message: String,
    /// What would be allowed.
    pub allowed: Option<String>,
    /// What to do about it, such as the nearest known name.
    pub hint: Option<String>,
}

/// Keeps what a file says on one line, and away from terminals: control characters are escaped.
struct OneLine<'f, 'a>(&'f mut fmt::Formatter<'a>);

impl fmt::Write for OneLine<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for part in text.split_inclusive(char::is_control) {
            match part.char_indices().next_back() {
                Some((at, control)) if control.is_control() => {
                    write!(self.0, "{}{}", &part[..at], control.escape_default())?;
                }
                _ => self.0.write_str(part)?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let f = &mut OneLine(f);
        write!(f, "{}:{}:{}: ", self.file, self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        if let Some(allowed) = &self.allowed {
            write!(f, "; allowed: {allowed}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

/// A file that was read but cannot be used: everything that is wrong with its blocks, in the order of the file.
///
/// Displays as one line for each fault.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigError {
    /// What is wrong. Never empty.
    pub faults: Vec<Fault>,
}

impl ConfigError {
    /// `Ok` when there are no faults.
    pub(super) fn check(mut faults: Vec<Fault>) -> Result<(), Self> {
        if faults.is_empty() {
            return Ok(());
        }
        faults.sort_by_key(|fault| (fault.line, fault.column));
        Err(Self { faults })
    }

    /// The faults of both, in the order of the file.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.faults.extend(other.faults);
        self.faults.sort_by_key(|fault| (fault.line, fault.column));
        self
    }

    /// Both values, or the faults of both.
    ///
    /// # Errors
    ///
    /// When either is an error.
    pub fn both<A, B>(a: Result<A, Self>, b: Result<B, Self>) -> Result<(A, B), Self> {
        match (a, b) {
            (Ok(a), Ok(b)) => Ok((a, b)),
            (Err(a), Err(b)) => Err(a.and(b)),
            (Err(error), _) | (_, Err(error)) => Err(error),
        }
    }
}

impl From<Fault> for ConfigError {
    fn from(fault: Fault) -> Self {
        Self { faults: vec![fault] }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.faults.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}

/// Why a file gave no settings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file is there but could not be read: no permission, a directory, a broken disk.
    #[error("{}: cannot be read: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file was read, and is wrong.
    #[error(transparent)]
    Invalid(#[from] ConfigError),
}
