//! A settings file, read and parsed.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use jsonc_parser::{CollectOptions, ParseOptions, errors::ParseErrorKind, parse_to_ast};
use serde_json::Value;

use super::{
    ConfigError, Fault, LoadError,
    node::Node,
    text::{Lines, too_deep},
};

/// A JSON file that remembers where everything stands in it.
///
/// Beyond JSON it accepts a byte-order mark, `//` and `/* */` comments, and trailing commas; nothing else. It
/// is UTF-8, of at most [`MAX_BYTES`](Self::MAX_BYTES), nested no deeper than [`MAX_DEPTH`](Self::MAX_DEPTH).
#[derive(Clone, Debug)]
pub struct Document {
    name: String,
    text: String,
    lines: Lines,
    root: Option<Node>,
}

impl Document {
    /// The size that a file may have, in bytes: 1 MiB.
    pub const MAX_BYTES: usize = 1 << 20;

    /// How deeply arrays and objects may be nested in each other: 64 levels.
    pub const MAX_DEPTH: usize = 64;

    /// Reads a file. One that does not exist is [absent](Self::is_absent), which is no error: all its settings
    /// are the defaults.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unreadable`] when the file is there but cannot be read, else as [`parse`](Self::parse).
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        match read(path) {
            Ok(bytes) => Ok(Self::parse(name, bytes)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::absent(name)),
            Err(source) => Err(LoadError::Unreadable { file: path.to_owned(), source }),
        }
    }

    /// The document of a file that does not exist.
    pub fn absent(name: impl Into<String>) -> Self {
        Self { name: name.into(), text: String::new(), lines: Lines::of(""), root: None }
    }

    /// Parses a file's content. `name` stands for the file in errors.
    ///
    /// # Errors
    ///
    /// When the content is too large, not UTF-8, nested too deeply, empty, or not JSON.
    pub fn parse(name: impl Into<String>, content: impl AsRef<[u8]>) -> Result<Self, ConfigError> {
        let mut document = Self::absent(name);
        let content = content.as_ref();
        if content.len() > Self::MAX_BYTES {
            return Err(document.fault(0, "the file is larger than 1 MiB (1048576 bytes)").into());
        }
        let content = content.strip_prefix("\u{feff}".as_bytes()).unwrap_or(content);
        match std::str::from_utf8(content) {
            Ok(text) => document.hold(text.to_owned()),
            Err(error) => {
                let valid = content.get(..error.valid_up_to()).unwrap_or_default();
                document.hold(String::from_utf8_lossy(valid).into_owned());
                return Err(document.fault(error.valid_up_to(), "the file is not UTF-8 here").into());
            }
        }
        if let Some(offset) = too_deep(&document.text, Self::MAX_DEPTH) {
            return Err(document
                .fault(offset, "arrays and objects are nested more than 64 levels deep")
                .into());
        }
        document.root = Some(document.root_node()?);
        Ok(document)
    }

    fn hold(&mut self, text: String) {
        self.lines = Lines::of(&text);
        self.text = text;
    }

    fn root_node(&self) -> Result<Node, ConfigError> {
        let parsed = parse_to_ast(&self.text, &CollectOptions::default(), &json_with_comments());
        match parsed {
            Ok(parsed) => match &parsed.value {
                Some(root) => Ok(Node::from_ast(root)),
                None => Err(self.fault(0, "the file is empty; without settings it reads `{}`").into()),
            },
            Err(error) => {
                let offset = error.range().start;
                let (line, column) = self.position(offset);
                let what = match error.kind() {
                    ParseErrorKind::UnterminatedObject => "this object is not closed".to_owned(),
                    ParseErrorKind::UnterminatedArray => "this array is not closed".to_owned(),
                    other => uncapitalized(&other.to_string()),
                };
                Err(self
                    .fault(offset, format!("not valid JSON at line {line}, column {column}: {what}"))
                    .into())
            }
        }
    }

    /// The file, as the caller named it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether there was no file.
    pub fn is_absent(&self) -> bool {
        self.root.is_none()
    }

    /// The whole file as a plain value, `null` when absent, as a validator of its [schema](super::Registry::schema)
    /// wants it. Of double keys the last is kept.
    pub fn to_value(&self) -> Value {
        self.root.as_ref().map_or(Value::Null, Node::to_value)
    }

    pub(super) fn root(&self) -> Option<&Node> {
        self.root.as_ref()
    }

    /// Line and column of a byte.
    pub(super) fn position(&self, offset: usize) -> (usize, usize) {
        self.lines.position(&self.text, offset)
    }

    /// A fault at a byte of the text.
    pub(super) fn fault(&self, offset: usize, message: impl Into<String>) -> Fault {
        let (line, column) = self.position(offset);
        Fault { file: self.name.clone(), line, column, message: message.into(), ..Fault::default() }
    }

    /// A node as it is written, on one line, at most 60 characters.
    pub(super) fn written(&self, node: &Node) -> String {
        const MOST: usize = 60;
        let text = self.text.get(node.start..node.end).unwrap_or_default();
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(MOST) {
            Some((cut, _)) => format!("{}…", line.get(..cut).unwrap_or_default()),
            None => line,
        }
    }
}

/// The content, or one byte more than is allowed of it.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path)?.take(Document::MAX_BYTES as u64 + 1).read_to_end(&mut content)?;
    Ok(content)
}

fn json_with_comments() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn uncapitalized(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
