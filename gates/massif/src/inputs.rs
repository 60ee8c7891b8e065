// What the program and its build both start from.
const KEM_SEED: [u8; 64] = [7; 64];
const M: [u8; 32] = [9; 32];
const DSA_SEED: [u8; 32] = [11; 32];
const RND: [u8; 32] = [0; 32];
const MESSAGE: &[u8] = b"the least memory of anyone";
