//! Client requests to valgrind: a no-operation that valgrind knows, six words of request, one word of answer.
//!
//! On a processor, or an operating system, that valgrind is not asked on, every request answers its default.

/// Whether this program runs under valgrind.
pub fn running() -> bool {
    request(0x1001, [0; 5]) != 0
}

/// The number of errors reported so far.
pub fn errors() -> usize {
    request(0x1201, [0; 5])
}

/// Makes memcheck report every branch and every address that depends on these bytes.
pub fn mark_secret(bytes: &mut [u8]) {
    memcheck(1, bytes);
}

/// Ends the tracking of these bytes (not of what was computed from them).
pub fn mark_public(bytes: &[u8]) {
    memcheck(2, bytes);
}

fn memcheck(operation: usize, bytes: &[u8]) {
    const TOOL: usize = (b'M' as usize) << 24 | (b'C' as usize) << 16;
    request(TOOL + operation, [bytes.as_ptr() as usize, bytes.len(), 0, 0, 0]);
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn request(code: usize, arguments: [usize; 5]) -> usize {
    let words = [code, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4]];
    let mut answer = 0_usize;
    // SAFETY: four rotations by 128 bits in all and an exchange of rbx with itself change nothing but flags; valgrind
    // reads the six words behind rax and writes rdx.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") words.as_ptr(),
            inout("rdx") answer,
            out("rdi") _,
        );
    }
    answer
}

#[cfg(not(target_arch = "x86_64"))]
fn request(_: usize, _: [usize; 5]) -> usize {
    0
}
