//! Runs an operation once for each secret, each time in a new process with the same addresses, and steps through it.

use crate::step::{Comparison, Difference, Flow, Registers, Seen, Unjudged, holds, number};
use iced_x86::Register;
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::rc::Rc;
use std::{io, mem, ptr};

/// The number of secrets that each operation runs with.
pub const SECRETS: usize = 8;

/// A run of more instructions than this does not end.
const MOST_STEPS: usize = 20_000_000;

/// What stands between the runs of an operation with all secrets.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    /// Instructions of a run, up to the first difference.
    pub steps: usize,
    /// How many of them are AVX-512's.
    pub evex: usize,
    /// The first difference from the run with the first secret.
    pub difference: Option<Difference>,
}

/// Marks the part of a run that is traced. Outside of a traced process it ends the program.
#[inline(never)]
pub fn region<R>(work: impl FnOnce() -> R) -> R {
    marker();
    let result = work();
    marker();
    result
}

#[inline(always)]
fn marker() {
    // SAFETY: a trap changes no register and no memory; the tracer catches it.
    unsafe { core::arch::asm!("int3") };
}

/// Decoded instructions: each process is a copy of this one, so that one table serves all.
#[derive(Default)]
pub struct Tracer {
    decoded: HashMap<u64, Rc<Seen>>,
}

impl Tracer {
    /// A tracer; from now on this process and its children run on one processor, where changing between them is fast:
    /// the one of this number, if this process may use it.
    pub fn new(processor: usize) -> Self {
        // SAFETY: a zeroed set is an empty one; both calls only read and write it.
        unsafe {
            let mut set: libc::cpu_set_t = mem::zeroed();
            libc::CPU_SET(processor, &mut set);
            libc::sched_setaffinity(0, mem::size_of_val(&set), &raw const set);
        }
        Self::default()
    }

    /// Runs `operation` with each secret's number; it must call `region` once. `thorough` steps through the first run
    /// one by one, which is slow; the others are held against it.
    ///
    /// # Errors
    ///
    /// That processes cannot be traced here, that one ended by itself, or that an instruction cannot be judged.
    pub fn judge(&mut self, operation: &dyn Fn(usize), thorough: bool) -> io::Result<Judged> {
        // All of them before anything else is allocated here: each finds the same heap.
        let mut children = [const { None }; SECRETS];
        for (number, child) in children.iter_mut().enumerate() {
            *child = Some(Child::start(number, operation)?);
        }
        let mut comparison = Comparison::default();
        let (mut evex, mut difference) = (0, None);
        for (number, child) in children.into_iter().flatten().enumerate() {
            comparison.start();
            (evex, difference) = self.follow(&child, &mut comparison, thorough && number == 0)?;
            if difference.is_some() {
                break;
            }
        }
        Ok(Judged { steps: comparison.steps, evex, difference })
    }

    /// Goes through the region of one process, stopping where the addresses of operands are not known from the last
    /// stop; `one_by_one` stops at each instruction, by the processor's own means.
    ///
    /// A trap of the processor costs a virtual machine's exit, some 20 µs; a planted trap instruction a tenth.
    fn follow(
        &mut self,
        child: &Child,
        comparison: &mut Comparison,
        one_by_one: bool,
    ) -> io::Result<(usize, Option<Difference>)> {
        child.wait_for_trap()?;
        let text = File::options().read(true).write(true).open(format!("/proc/{}/mem", child.pid))?;
        let (mut evex, mut words, mut state) = (0, Vec::new(), child.state()?);
        while comparison.steps < MOST_STEPS {
            let first = self.decode(&text, state.registers.rip)?;
            if first.is_marker {
                return Ok((evex, comparison.end().err()));
            }
            let (flow, mut changed) = (first.flow, first.writes);
            // The processor traps at each round of a repeated instruction.
            let one_by_one = one_by_one && !first.is_repeated;
            let mut next = Some(first);
            while let Some(seen) = next.take() {
                evex += usize::from(seen.is_evex);
                words.clear();
                seen.words(&state, &mut words).map_err(unjudged)?;
                if let Err(difference) = comparison.step(&words) {
                    return Ok((evex, Some(difference)));
                }
                if let (Flow::On(address), false) = (seen.flow, one_by_one) {
                    let seen = self.decode(&text, address)?;
                    if seen.follows(&mut changed) {
                        next = Some(seen);
                    } else {
                        child.run_to(&mut state, &text, address)?;
                    }
                }
            }
            match flow {
                Flow::On(_) if !one_by_one => {}
                Flow::Branch(condition, target, behind) if !one_by_one => {
                    let taken = holds(condition, state.registers.eflags);
                    state.registers.rip = if taken { target } else { behind };
                }
                _ => {
                    child.set(&state)?;
                    child.request(libc::PTRACE_SINGLESTEP)?;
                    child.wait_for_trap()?;
                    state = child.state()?;
                }
            }
        }
        Err(io::Error::other("the region does not end"))
    }

    fn decode(&mut self, text: &File, address: u64) -> io::Result<Rc<Seen>> {
        if let Some(seen) = self.decoded.get(&address) {
            return Ok(Rc::clone(seen));
        }
        let mut bytes = [0; 15];
        let length = text.read_at(&mut bytes, address)?;
        let seen = Rc::new(Seen::decode(address, &bytes[..length]).map_err(unjudged)?);
        self.decoded.insert(address, Rc::clone(&seen));
        Ok(seen)
    }
}

fn unjudged(Unjudged(address): Unjudged) -> io::Error {
    io::Error::other(format!("cannot judge the instruction at {}", place(address)))
}

/// The function and line of an address of this program, as `addr2line` knows it.
pub fn place(address: u64) -> String {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let file = |line: &str| line.find('/').map(|at| line[at..].to_owned());
    let range = |line: &str| {
        let (start, end) = line.split_once(' ')?.0.split_once('-')?;
        Some(u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?)
    };
    let here = maps.lines().find(|line| range(line).is_some_and(|range| range.contains(&address)));
    let Some(program) = here.and_then(file) else { return format!("{address:#x}") };
    let first = maps.lines().find(|line| file(line).as_ref() == Some(&program)).and_then(range);
    let start = first.map_or(0, |range| range.start);
    let offset = format!("{:#x}", address.wrapping_sub(start));
    let output = std::process::Command::new("addr2line")
        .args(["--functions", "--demangle", "--inlines", "--pretty-print", "--exe"])
        .arg(&program)
        .arg(&offset)
        .output();
    let names = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().replace('\n', ""));
    format!("{program} {offset} {}", names.unwrap_or_default())
}

/// A process that runs the operation with one secret; killed when dropped.
struct Child {
    pid: libc::pid_t,
}

impl Child {
    fn start(number: usize, operation: &dyn Fn(usize)) -> io::Result<Self> {
        // SAFETY: this program has one thread, so that its copy may do all that it may do itself.
        let pid = unsafe { libc::fork() };
        match pid {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                // SAFETY: neither call touches memory; both ask that the parent rule over this process.
                let allowed = unsafe {
                    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                    libc::ptrace(libc::PTRACE_TRACEME, 0, ptr::null_mut::<()>(), ptr::null_mut::<()>()) == 0
                };
                if allowed {
                    operation(number);
                }
                // SAFETY: ends the copy without running what the parent will run at its own end.
                unsafe { libc::_exit(1) }
            }
            pid => Ok(Self { pid }),
        }
    }

    fn wait_for_trap(&self) -> io::Result<()> {
        let mut status = 0;
        // SAFETY: writes the status.
        if unsafe { libc::waitpid(self.pid, &raw mut status, 0) } != self.pid {
            return Err(io::Error::last_os_error());
        }
        if libc::WIFSTOPPED(status) && libc::WSTOPSIG(status) == libc::SIGTRAP {
            return Ok(());
        }
        Err(io::Error::other(format!("the traced process stopped with status {status:#x}")))
    }

    fn request(&self, request: libc::c_uint) -> io::Result<()> {
        // SAFETY: no request that is made through here takes an argument.
        done(unsafe { libc::ptrace(request, self.pid, ptr::null_mut::<()>(), ptr::null_mut::<()>()) })
    }

    /// Lets the process run from the state's address to another one in the same straight line.
    fn run_to(&self, state: &mut State, text: &File, address: u64) -> io::Result<()> {
        const TRAP: u8 = 0xcc;
        self.set(state)?;
        let mut byte = [0];
        text.read_exact_at(&mut byte, address)?;
        text.write_all_at(&[TRAP], address)?;
        self.request(libc::PTRACE_CONT)?;
        self.wait_for_trap()?;
        text.write_all_at(&byte, address)?;
        *state = self.state()?;
        if state.registers.rip != address + 1 {
            return Err(io::Error::other(format!("a trap at {}", place(state.registers.rip))));
        }
        state.registers.rip = address;
        Ok(())
    }

    fn set(&self, state: &State) -> io::Result<()> {
        // SAFETY: the request reads one such structure.
        done(unsafe {
            libc::ptrace(libc::PTRACE_SETREGS, self.pid, ptr::null_mut::<()>(), &raw const state.registers)
        })
    }

    fn state(&self) -> io::Result<State> {
        // SAFETY: the structure holds numbers only, for which zero is a value.
        let mut registers: libc::user_regs_struct = unsafe { mem::zeroed() };
        // SAFETY: the request writes one such structure.
        done(unsafe {
            libc::ptrace(libc::PTRACE_GETREGS, self.pid, ptr::null_mut::<()>(), &raw mut registers)
        })?;
        Ok(State { pid: self.pid, registers })
    }
}

/// The error of a request to the kernel, if it failed.
fn done(answer: libc::c_long) -> io::Result<()> {
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: the process is a child of this one and was not waited for to its end, so the number is still its own.
        unsafe {
            libc::kill(self.pid, libc::SIGKILL);
            libc::waitpid(self.pid, ptr::null_mut(), 0);
        }
    }
}

/// The registers of a stopped process.
struct State {
    pid: libc::pid_t,
    registers: libc::user_regs_struct,
}

impl Registers for State {
    fn general(&self, register: Register) -> Option<u64> {
        let r = &self.registers;
        // In the order of their numbers.
        let general = [
            r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13,
            r.r14, r.r15,
        ];
        match register {
            Register::FS => Some(r.fs_base),
            Register::GS => Some(r.gs_base),
            _ => general.get(number(register)).copied(),
        }
    }

    fn mask(&self, number: usize) -> Option<u64> {
        /// The kernel's number for the area that XSAVE writes, and the part of it with the mask registers.
        const NT_X86_XSTATE: usize = 0x202;
        const OPMASK: u32 = 5;
        let mut area = [0_u8; 16384];
        let mut io = libc::iovec { iov_base: area.as_mut_ptr().cast(), iov_len: area.len() };
        // SAFETY: the request writes at most the length of the area, and the length that it wrote.
        let answer = unsafe { libc::ptrace(libc::PTRACE_GETREGSET, self.pid, NT_X86_XSTATE, &raw mut io) };
        // The standard form: this leaf's EBX says where a part starts.
        #[allow(unused_unsafe)]
        // SAFETY: each processor with mask registers has this leaf.
        let start = unsafe { core::arch::x86_64::__cpuid_count(0xd, OPMASK) }.ebx as usize + 8 * number;
        let word = area[..io.iov_len].get(start..start + 8)?;
        (answer != -1).then(|| u64::from_le_bytes(word.try_into().expect("eight bytes")))
    }
}
