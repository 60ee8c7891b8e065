//! The entry, the end, and the memory functions that compiled code calls: none of them has a frame.

use core::arch::global_asm;
use core::panic::PanicInfo;

// At the entry the stack holds the number of arguments, then their addresses; a missing one is the empty name at 0 of `empty`.
global_asm!(
    ".globl _start",
    "_start:",
    "lea rdi, [rip + 2f]",
    "cmp qword ptr [rsp], 2",
    "cmovae rdi, [rsp + 16]",
    "and rsp, -16",
    "call {find}",
    "mov rdi, rax",
    "call {run}",
    "mov edi, eax",
    "mov eax, 60", // exit
    "syscall",
    "2: .byte 0",
    find = sym crate::find,
    run = sym crate::run,
);

global_asm!(
    ".globl memcpy",
    "memcpy:",
    "mov rax, rdi",
    "mov rcx, rdx",
    "rep movsb",
    "ret",
    ".globl memmove",
    "memmove:",
    "mov rax, rdi",
    "mov rcx, rdx",
    "mov r8, rdi",
    "sub r8, rsi",
    "cmp r8, rdx",
    "jb 2f", // the target begins within the source: from the end
    "rep movsb",
    "ret",
    "2:",
    "lea rdi, [rdi + rdx - 1]",
    "lea rsi, [rsi + rdx - 1]",
    "std",
    "rep movsb",
    "cld",
    "ret",
    ".globl memset",
    "memset:",
    "mov r8, rdi",
    "mov eax, esi",
    "mov rcx, rdx",
    "rep stosb",
    "mov rax, r8",
    "ret",
    ".globl memcmp",
    ".globl bcmp",
    "memcmp:",
    "bcmp:",
    "xor eax, eax",
    "mov rcx, rdx",
    "test rcx, rcx",
    "je 2f",
    "repe cmpsb",
    "je 2f",
    "movzx eax, byte ptr [rdi - 1]",
    "movzx ecx, byte ptr [rsi - 1]",
    "sub eax, ecx",
    "2: ret",
);

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: the system call ends the process, with a status of its own.
    unsafe { core::arch::asm!("syscall", in("rax") 60, in("rdi") 3, options(noreturn)) }
}
