//! What is asked of a text before it is parsed, and where in it things are.

/// Turns bytes of a text into lines and columns, quickly however many faults a file has.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    /// The byte that each line begins with.
    starts: Vec<usize>,
    /// How many characters precede each [`STRIDE`]th byte.
    characters: Vec<usize>,
}

const STRIDE: usize = 1_024;

impl Lines {
    /// `\n`, `\r\n` and a lone `\r` end a line.
    pub(super) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let (mut starts, mut characters, mut count) = (vec![0], Vec::new(), 0);
        for (i, &byte) in bytes.iter().enumerate() {
            if i % STRIDE == 0 {
                characters.push(count);
            }
            count += usize::from(begins_character(byte));
            if byte == b'\n' || (byte == b'\r' && bytes.get(i + 1) != Some(&b'\n')) {
                starts.push(i + 1);
            }
        }
        characters.push(count);
        Self { starts, characters }
    }

    /// Line and column, both from 1, of a byte of `text`. Columns count characters.
    pub(super) fn position(&self, text: &str, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|&start| start <= offset);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        (line, self.characters_before(text, offset) - self.characters_before(text, start) + 1)
    }

    fn characters_before(&self, text: &str, offset: usize) -> usize {
        let stride = (offset.min(text.len()) / STRIDE).min(self.characters.len().saturating_sub(1));
        let rest = text.as_bytes().get(stride * STRIDE..offset.min(text.len())).unwrap_or_default();
        let rest = rest.iter().filter(|&&byte| begins_character(byte)).count();
        self.characters.get(stride).map_or(rest, |before| before + rest)
    }
}

fn begins_character(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

/// Where brackets are first nested deeper than `limit`. Strings and comments are passed over.
pub(super) fn too_deep(text: &str, limit: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut i, mut depth) = (0, 0_usize);
    while let Some(&byte) = bytes.get(i) {
        match byte {
            b'"' => i = end_of_string(bytes, i),
            b'/' => i = end_of_comment(bytes, i),
            b'[' | b'{' => {
                depth += 1;
                if depth > limit {
                    return Some(i);
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        i += 1;
    }
    None
}

/// The last byte of the string that begins at `start`.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut i = start + 1;
    while let Some(&byte) = bytes.get(i) {
        match byte {
            b'"' => return i,
            b'\\' => i += 2,
            _ => i += 1,
        }
    }
    i
}

/// The last byte of the comment that begins at `start`; `start` when none does.
fn end_of_comment(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start + 2..).unwrap_or_default();
    match bytes.get(start + 1) {
        Some(b'/') => start + 1 + rest.iter().take_while(|&&byte| byte != b'\n' && byte != b'\r').count(),
        Some(b'*') => rest.windows(2).position(|pair| pair == b"*/").map_or(bytes.len(), |at| start + 3 + at),
        _ => start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(text: &str, offset: usize) -> (usize, usize) {
        Lines::of(text).position(text, offset)
    }

    #[test]
    fn far_columns_are_counted_like_near_ones() {
        let text = "ä".repeat(5_000);
        assert_eq!(position(&text, 9_998), (1, 5_000));
        assert_eq!(position(&text, 10_000), (1, 5_001));
        let text = format!("{}\n{}", "ä".repeat(1_000), "x".repeat(3_000));
        assert_eq!(position(&text, 2_001 + 2_500), (2, 2_501));
        for at in [1_023, 1_024, 1_025, 2_048] {
            assert_eq!(position(&"x".repeat(4_096), at), (1, at + 1));
        }
        assert_eq!(position(&"x".repeat(1_024), 1_024), (1, 1_025));
    }

    #[test]
    fn columns_count_characters_and_lines_end_three_ways() {
        assert_eq!(position("", 0), (1, 1));
        assert_eq!(position("äö x", "äö ".len()), (1, 4));
        assert_eq!(position("a\r\nb", 3), (2, 1));
        assert_eq!(position("a\rb", 2), (2, 1));
        assert_eq!(position("a\n\nbc", 4), (3, 2));
    }

    #[test]
    fn brackets_in_strings_and_comments_do_not_nest() {
        assert_eq!(too_deep("[[1]]", 2), None);
        assert_eq!(too_deep("[[1]]", 1), Some(1));
        assert_eq!(too_deep(r#"["[[\"[[", 1]"#, 1), None);
        assert_eq!(too_deep("[ // [[\n ]", 1), None);
        assert_eq!(too_deep("[ // [[\r [", 1), Some(9));
        assert_eq!(too_deep("[ /* [[ */ [", 1), Some(11));
        assert_eq!(too_deep("[ /* [[", 1), None);
        assert_eq!(too_deep("[], [], []", 1), None);
        // Further on in the text.
        assert_eq!(too_deep(r#"[ "a\"b", [ ]"#, 1), Some(10));
        assert_eq!(too_deep("[    // [[\r [", 1), Some(12));
        assert_eq!(too_deep("[    /* */ [", 1), Some(11));
    }
}
