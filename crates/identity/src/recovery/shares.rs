//! SSKR shares (Blockchain Commons, BCR-2020-011), in Bytewords (BCR-2020-012).

use crate::{Error, MasterSeed, Reason, Result};
use sskr::{GroupSpec, Spec};
use ur::bytewords::{self, Style};
use zeroize::{Zeroize, Zeroizing};

/// The CBOR tag before a share, 40309, and the one of earlier tools, 309.
const TAGS: [&[u8]; 2] = [&[0xd9, 0x9d, 0x75], &[0xd9, 0x01, 0x35]];
const MAX_SHARES: usize = 16;
/// The longest text of a share that is read: 46 words of four letters.
const MAX_TEXT: usize = 1024;

/// The seed in `count` shares, `threshold` of which give it back and fewer tell nothing: `2 <= threshold <= count <= 16`,
/// or one share of one. Each is a text of 46 words.
///
/// # Errors
///
/// [`Reason::BadShares`] for other numbers.
pub fn shares(seed: &MasterSeed, threshold: usize, count: usize) -> Result<Vec<Zeroizing<String>>> {
    let bad = || Error::new(Reason::BadShares, format_args!("{threshold} of {count} shares"));
    // SSKR allows it, and then every share is the seed.
    if count > MAX_SHARES || (threshold == 1 && count > 1) {
        return Err(bad());
    }
    let group = GroupSpec::new(threshold, count).map_err(|_| bad())?;
    let spec = Spec::new(1, vec![group]).map_err(|_| bad())?;
    let secret = sskr::Secret::new(seed.expose()).map_err(|_| bad())?;
    let mut made = sskr::sskr_generate(&spec, &secret).map_err(|_| bad())?;
    let texts = made.iter().flatten().map(|share| text(share)).collect();
    made.iter_mut().flatten().for_each(Zeroize::zeroize);
    Ok(texts)
}

/// The seed of enough shares, in any order. Shares of tools that write the same format are read.
///
/// # Errors
///
/// [`Reason::BadShares`]: too few, one that was mistyped, or shares of different seeds.
pub fn from_shares<T: AsRef<str>>(texts: &[T]) -> Result<MasterSeed> {
    let secret = combined(texts)?;
    let seed = secret.as_slice().try_into().map_err(|_| bad("the shares are not of a seed of 32 bytes"))?;
    Ok(MasterSeed::from_bytes(seed))
}

fn combined<T: AsRef<str>>(texts: &[T]) -> Result<Zeroizing<Vec<u8>>> {
    if texts.is_empty() || texts.len() > MAX_SHARES {
        return Err(bad("expected 1 to 16 shares"));
    }
    let mut shares = Vec::with_capacity(texts.len());
    for (number, text) in (1..).zip(texts) {
        let share = read(text.as_ref()).ok_or_else(|| bad(format_args!("share {number} is malformed")))?;
        if shares.contains(&share) {
            return Err(bad(format_args!("share {number} was given twice")));
        }
        shares.push(share);
    }
    let shares: Vec<&[u8]> = shares.iter().map(|share| share.as_slice()).collect();
    sskr::sskr_combine(&shares).map(|secret| Zeroizing::new(secret.data().to_vec())).map_err(bad)
}

fn text(share: &[u8]) -> Zeroizing<String> {
    let len = u8::try_from(share.len()).expect("37 bytes");
    let cbor = Zeroizing::new([TAGS[0], &[0x58, len], share].concat());
    Zeroizing::new(bytewords::encode(&cbor, Style::Standard))
}

fn read(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    if text.len() > MAX_TEXT {
        return None;
    }
    let mut words = Zeroizing::new(String::with_capacity(text.len()));
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    words.make_ascii_lowercase();
    let cbor = Zeroizing::new(bytewords::decode(&words, Style::Standard).ok()?);
    // A byte string: its length in the first byte if it is below 24, else behind it.
    let (len, share) = match TAGS.iter().find_map(|tag| cbor.strip_prefix(*tag))? {
        [0x58, len @ 24..=255, share @ ..] => (*len, share),
        [len @ 0x40..0x58, share @ ..] => (len - 0x40, share),
        _ => return None,
    };
    (share.len() == usize::from(len)).then(|| Zeroizing::new(share.to_vec()))
}

fn bad(what: impl core::fmt::Display) -> Error {
    Error::new(Reason::BadShares, what)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        text.as_bytes()
            .chunks(2)
            .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }

    /// Shares of 128 bits, as seedtool-cli-rust's manual and the vectors at developer.blockchaincommons.com have them.
    #[test]
    fn published_shares_combine() {
        let sets: [[&str; 2]; 2] = [
            [
                "tuna next keep gyro acid yawn able acid able leaf idle mild legs play ugly atom liar slot scar film redo tent poem wasp maze calm scar need toil",
                "tuna next keep gyro acid yawn able acid acid holy keep when luau cook jazz yank rock grim toil stub dice keys very ruby work crux peck down iron",
            ],
            [
                "tuna acid epic gyro jury jump able acid able flap rust king roof item vast real hang plus free menu good plus keno vast gray maze oval whiz tomb",
                "tuna acid epic gyro jury jump able acid acid kiln main tuna keno able view plus gush body nail silk girl ruin visa curl yell loud rock jury fuel",
            ],
        ];
        let mut ran = 0;
        for set in sets {
            assert_eq!(*combined(&set).unwrap(), hex("59f2293a5bce7d4de59e71b4207ac5d2"));
            assert_eq!(from_shares(&set).err().unwrap().reason(), Reason::BadShares, "half a seed");
            ran += 1;
        }
        assert_eq!(ran, 2);
    }

    /// The example of BCR-2020-011: two of three, and three of five; both groups are needed.
    #[test]
    fn the_example_of_the_specification_combines() {
        let shares = [
            "4bbf1101003e990c1f0435e2b33c721535c74603d0",
            "4bbf1101010c8ba39a7502a325ed07b8d597d1b80f",
            "4bbf1101025abd490ee65b6084859854ee67736e75",
            "4bbf11120044ef453f66923d32653b377de5c94b39",
            "4bbf1112016ffb1b0cc5ab485f5a67136c802bc67b",
            "4bbf111202a3763155fcfdb5887abce6ee69c4bbcd",
            "4bbf11120388626f665fc4c0e545e0c2ff0c26368f",
            "4bbf1112046334a0db7838a5c6c4d2dcb2e5b65911",
        ]
        .map(|share| {
            let share = hex(share);
            let cbor = [TAGS[0], &[0x40 + 21], &share].concat();
            bytewords::encode(&cbor, Style::Standard)
        });
        assert_eq!(
            shares[2],
            "tuna next keep gyro gear runs body acid also heat ruby gala beta visa help horn liar limp monk gush waxy into junk jolt keep lion leaf ruby purr"
        );
        let pick = |which: &[usize]| combined(&which.iter().map(|i| &shares[*i]).collect::<Vec<_>>());
        assert_eq!(*pick(&[0, 2, 3, 5, 7]).unwrap(), hex("7daa851251002874e1a1995f0897e6b1"));
        assert_eq!(*pick(&[6, 1, 4, 2, 5]).unwrap(), hex("7daa851251002874e1a1995f0897e6b1"));
        assert_eq!(pick(&[0, 2, 3, 5]).err().unwrap().reason(), Reason::BadShares);
    }
}
