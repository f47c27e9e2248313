/// Bits up to this many stand in place.
const IN_PLACE: u64 = 2 * WORD;

const WORD: u64 = u64::BITS as u64;

/// A fixed number of bits: up to 128 of them in place, more on the heap.
#[derive(Clone, Debug)]
pub(super) enum Bits {
    Few([u64; 2]),
    Many(Box<[u64]>),
}

impl Bits {
    /// `len` bits, all unset.
    pub(super) fn new(len: u64) -> Self {
        if len <= IN_PLACE {
            Self::Few([0; 2])
        } else {
            Self::Many(vec![0; len.div_ceil(WORD) as usize].into())
        }
    }

    pub(super) fn get(&self, at: u64) -> bool {
        let words = match self {
            Self::Few(words) => &words[..],
            Self::Many(words) => words,
        };
        words[(at / WORD) as usize] >> (at % WORD) & 1 == 1
    }

    /// Sets or unsets a bit, and says what it was.
    pub(super) fn replace(&mut self, at: u64, bit: bool) -> bool {
        let word = &mut self.words()[(at / WORD) as usize];
        let mask = 1 << (at % WORD);
        let was = *word & mask != 0;
        *word = if bit { *word | mask } else { *word & !mask };
        was
    }

    pub(super) fn clear(&mut self) {
        self.words().fill(0);
    }

    fn words(&mut self) -> &mut [u64] {
        match self {
            Self::Few(words) => words,
            Self::Many(words) => words,
        }
    }
}
