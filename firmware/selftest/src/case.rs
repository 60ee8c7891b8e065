//! The file of cases: each a byte of its kind, one of its set, one of its verdict, the number of its fields; and of each field four bytes of
//! its length, or four times 255 for one that is not there, and itself.

use alloc::vec;
use alloc::vec::Vec;
use semihosting::fs::File;
use semihosting::io::Read as _;

/// Whose case it is.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    OfKem(OfKem),
    OfDsa(OfDsa),
}

#[derive(Clone, Copy, Debug)]
pub enum OfKem {
    /// Many steps of C2SP/CCTV: their number, and their digest.
    Accumulated,
    /// ek, m, c, K.
    Encapsulation,
    /// dk in the standard's encoding, c, K.
    Decapsulation,
    /// A seed, ek, dk, c, K.
    Seed,
}

#[derive(Clone, Copy, Debug)]
pub enum OfDsa {
    /// As of ML-KEM.
    Accumulated,
    /// A seed, message, μ, context, rnd, signature.
    SignSeed,
    /// The same, but sk in the standard's encoding.
    Sign,
    /// vk, message, context, signature.
    Verify,
}

/// A case.
pub struct Case {
    pub kind: Kind,
    /// Which of the three sets, from the smallest on.
    pub set: usize,
    /// Whether what is given is accepted, and gives what is expected.
    pub valid: bool,
    fields: Vec<Option<Vec<u8>>>,
}

impl Case {
    /// A field; `None` if there is none.
    pub fn field(&self, number: usize) -> Option<&[u8]> {
        self.fields.get(number)?.as_deref()
    }

    /// A field that every case of its kind has.
    pub fn known(&self, number: usize) -> &[u8] {
        self.field(number).expect("every case of this kind has it")
    }

    /// The two fields of a digest of many steps.
    pub fn steps(&self) -> (usize, &[u8]) {
        let steps = self.known(0).try_into().map(u32::from_le_bytes).expect("four bytes");
        (steps as usize, self.known(1))
    }
}

/// All cases of the file `vectors`.
pub fn all() -> impl Iterator<Item = Case> {
    let mut file = File::open(c"vectors").expect("the file `vectors` lies beside the program");
    let mut read = move |bytes: &mut [u8]| file.read_exact(bytes).expect("the file ends behind a case");
    core::iter::from_fn(move || {
        let mut head = [0; 4];
        read(&mut head);
        let [kind, set, valid, fields] = head;
        let kind = match kind {
            1 => Kind::OfKem(OfKem::Accumulated),
            2 => Kind::OfKem(OfKem::Encapsulation),
            3 => Kind::OfKem(OfKem::Decapsulation),
            4 => Kind::OfKem(OfKem::Seed),
            5 => Kind::OfDsa(OfDsa::Accumulated),
            6 => Kind::OfDsa(OfDsa::SignSeed),
            7 => Kind::OfDsa(OfDsa::Sign),
            8 => Kind::OfDsa(OfDsa::Verify),
            _ => return None,
        };
        let mut field = |_| {
            let mut length = [0; 4];
            read(&mut length);
            let length = u32::from_le_bytes(length);
            (length != u32::MAX).then(|| {
                let mut bytes = vec![0; length as usize];
                read(&mut bytes);
                bytes
            })
        };
        let fields = (0..fields).map(&mut field).collect();
        Some(Case { kind, set: set.into(), valid: valid == 1, fields })
    })
}
