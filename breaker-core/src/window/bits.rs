/// A fixed number of bits: up to 64 of them in place, more on the heap.
#[derive(Clone, Debug)]
pub(super) enum Bits {
    Word(u64),
    Words(Box<[u64]>),
}

impl Bits {
    /// `len` bits, all unset.
    pub(super) fn new(len: u32) -> Self {
        match len.div_ceil(u64::BITS) {
            0 | 1 => Self::Word(0),
            words => Self::Words(vec![0; words as usize].into()),
        }
    }

    pub(super) fn get(&self, at: u32) -> bool {
        let word = match self {
            Self::Word(word) => *word,
            Self::Words(words) => words[(at / u64::BITS) as usize],
        };
        word >> (at % u64::BITS) & 1 == 1
    }

    /// Sets or unsets a bit, and says what it was.
    pub(super) fn replace(&mut self, at: u32, bit: bool) -> bool {
        let word = match self {
            Self::Word(word) => word,
            Self::Words(words) => &mut words[(at / u64::BITS) as usize],
        };
        let mask = 1 << (at % u64::BITS);
        let was = *word & mask != 0;
        *word = if bit { *word | mask } else { *word & !mask };
        was
    }

    pub(super) fn clear(&mut self) {
        match self {
            Self::Word(word) => *word = 0,
            Self::Words(words) => words.fill(0),
        }
    }
}
