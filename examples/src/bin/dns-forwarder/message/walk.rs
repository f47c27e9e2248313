//! Steps through a message.

/// The longest name, in bytes.
const LONGEST_NAME: usize = 255;

/// A number of two bytes.
pub(super) fn number(message: &[u8], at: usize) -> Option<usize> {
    let bytes = message.get(at..at.checked_add(2)?)?;
    Some(usize::from(bytes[0]) << 8 | usize::from(bytes[1]))
}

/// Where a name that is written in full ends.
pub(super) fn full_name(message: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        let label = usize::from(*message.get(at)?);
        if label > 63 {
            return None;
        }
        at += 1 + label;
        if at - start > LONGEST_NAME {
            return None;
        }
        if label == 0 {
            return Some(at);
        }
    }
}

/// Where a name ends that may go on elsewhere in the message.
fn name(message: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        match *message.get(at)? {
            0 => return Some(at + 1),
            label @ 1..=63 => at += 1 + usize::from(label),
            0xc0.. => return (at + 1 < message.len()).then_some(at + 2),
            _ => return None,
        }
    }
}

/// One record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) kind: usize,
    pub(super) end: usize,
}

/// The record that begins at `start`, if all of it is there.
pub(super) fn record(message: &[u8], start: usize) -> Option<Record> {
    let name = name(message, start)?;
    let end = name + 10 + number(message, name + 8)?;
    (end <= message.len()).then_some(Record { kind: number(message, name)?, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_at_their_root_or_at_a_pointer() {
        assert_eq!(full_name(b"\x01a\x02bc\x00rest", 0), Some(6));
        assert_eq!(full_name(b"\x01a\xc0\x0c", 0), None);
        assert_eq!(name(b"\x01a\xc0\x0c", 0), Some(4));
        assert_eq!(name(b"\x01a\xc0", 0), None);
        assert_eq!(name(b"\x05ab", 0), None);
        assert_eq!(name(b"\x40", 0), None);
    }

    #[test]
    fn a_name_has_at_most_255_bytes() {
        let longest = [&[63; 64][..], &[63; 64], &[63; 64], &[61; 62], &[0]].concat();
        assert_eq!(full_name(&longest, 0), Some(255));
        let too_long = [&[63; 64][..], &[63; 64], &[63; 64], &[62; 63], &[0]].concat();
        assert_eq!(full_name(&too_long, 0), None);
    }

    #[test]
    fn a_record_ends_with_its_data() {
        let record_of = |data: &[u8]| record(&[&[0, 0, 41, 0, 0, 0, 0, 0, 0, 0, 3], data].concat(), 0);
        assert_eq!(record_of(b"abc").map(|record| (record.kind, record.end)), Some((41, 14)));
        assert!(record_of(b"ab").is_none());
    }
}
