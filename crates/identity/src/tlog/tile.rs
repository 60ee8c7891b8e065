//! The names of the files of a log (c2sp.org/tlog-tiles).

use core::fmt;

/// Hashes of a full tile, entries of a full bundle.
pub(super) const WIDTH: u64 = 256;
/// Levels of the tree in one tile.
pub(super) const HEIGHT: u32 = 8;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Level {
    /// The hashes of this level: of entries at 0, of full tiles of the level below above that.
    Hashes(u32),
    /// The entries themselves.
    Entries,
}

/// A tile, or a bundle of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Tile {
    pub(super) level: Level,
    /// Which one of the level.
    pub(super) number: u64,
    /// How many hashes or entries it holds, 1 to 256.
    pub(super) width: u64,
}

impl Tile {
    /// The tile of this number in a tree of this size; `None` if it would be empty.
    pub(super) fn of(level: Level, number: u64, size: u64) -> Option<Self> {
        let count = match level {
            Level::Hashes(level) => size.checked_shr(level * HEIGHT).unwrap_or(0),
            Level::Entries => size,
        };
        let width = count.saturating_sub(number.checked_mul(WIDTH)?).min(WIDTH);
        (width > 0).then_some(Self { level, number, width })
    }
}

impl fmt::Display for Tile {
    /// `tile/LEVEL/x001/x234/067`, and `.p/WIDTH` behind a partial one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.level {
            Level::Hashes(level) => write!(f, "tile/{level}/")?,
            Level::Entries => f.write_str("tile/entries/")?,
        }
        let mut groups = vec![self.number % 1000];
        let mut rest = self.number / 1000;
        while rest > 0 {
            groups.push(rest % 1000);
            rest /= 1000;
        }
        let last = groups.remove(0);
        groups.iter().rev().try_for_each(|group| write!(f, "x{group:03}/"))?;
        write!(f, "{last:03}")?;
        if self.width < WIDTH { write!(f, ".p/{}", self.width) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_specification() {
        let name = |level, number, width| Tile { level, number, width }.to_string();
        assert_eq!(name(Level::Hashes(0), 1_234_067, 256), "tile/0/x001/x234/067");
        assert_eq!(name(Level::Hashes(2), 0, 1), "tile/2/000.p/1");
        assert_eq!(name(Level::Entries, 999, 255), "tile/entries/999.p/255");
        assert_eq!(name(Level::Entries, 1000, 256), "tile/entries/x001/000");
    }

    /// The example of the specification: 70,000 entries.
    #[test]
    fn widths_are_those_of_the_specification() {
        let width = |level, number| Tile::of(Level::Hashes(level), number, 70_000).map(|tile| tile.width);
        assert_eq!(
            [width(0, 0), width(0, 272), width(0, 273), width(0, 274)],
            [Some(256), Some(256), Some(112), None]
        );
        assert_eq!([width(1, 0), width(1, 1), width(1, 2)], [Some(256), Some(17), None]);
        assert_eq!([width(2, 0), width(2, 1), width(3, 0), width(63, 0)], [Some(1), None, None, None]);
        assert_eq!(Tile::of(Level::Hashes(1), 0, 256).map(|tile| tile.width), Some(1));
        assert_eq!(Tile::of(Level::Entries, u64::MAX, u64::MAX), None);
    }
}
