//! What one instruction shows to an observer of time: where it stands, and where in memory it works.
//!
//! `bin/step.rs` runs an operation instruction by instruction with several secrets; the words that `Seen::words`
//! gives for each step must be the same for all of them.

use iced_x86::{
    ConditionCode, Decoder, DecoderOptions, EncodingKind, FlowControl, InstructionInfoFactory, Mnemonic,
    OpAccess, OpKind, Register, UsedMemory,
};

/// The registers that addresses are made of, and the mask registers where an instruction asks for one.
pub trait Registers {
    /// The value of a general register, whole, or the base of the segment FS or GS.
    fn general(&self, register: Register) -> Option<u64>;

    /// The value of the mask register k0 to k7.
    fn mask(&self, number: usize) -> Option<u64>;
}

/// A decoded instruction: what of it has to be compared.
pub struct Seen {
    address: u64,
    memory: Vec<UsedMemory>,
    /// The mask of an operand in memory: it chooses which bytes are touched.
    mask: Option<usize>,
    /// A division takes a time that depends on its operands.
    divisor: Option<Register>,
    /// A repeated string instruction is taken as one, with its count.
    pub is_repeated: bool,
    /// The general registers that its words are made of, a bit for each.
    reads: u16,
    /// Those that it writes.
    pub writes: u16,
    /// Where the next instruction is.
    pub flow: Flow,
    /// The marker before and after the operation.
    pub is_marker: bool,
    /// Whether only a processor with AVX-512 knows this encoding.
    pub is_evex: bool,
}

/// Where an instruction leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// To the one behind it, at this address.
    On(u64),
    /// To the first address if the condition holds, else to the second.
    Branch(ConditionCode, u64, u64),
    /// Where only the processor knows.
    Elsewhere,
}

/// Returns true if a condition holds, by the flags (Intel's manual, volume 2, Jcc); a jump without one is taken. A condition's number is one more
/// than its encoding, of which the lowest bit negates.
pub fn holds(condition: ConditionCode, flags: u64) -> bool {
    let [carry, parity, zero, sign, overflow] = [0, 2, 6, 7, 11].map(|bit| flags >> bit & 1 == 1);
    let less = sign != overflow;
    let positive = [overflow, carry, zero, carry || zero, sign, parity, less, zero || less];
    (condition as usize).checked_sub(1).is_none_or(|code| positive[code >> 1] == (code & 1 == 0))
}

/// The number of a general register, as instructions have it; 16 or more for others.
pub fn number(register: Register) -> usize {
    (register.full_register() as usize).wrapping_sub(Register::RAX as usize)
}

/// The bit of a general register, none for others.
fn bit(register: Register) -> u16 {
    let number = number(register);
    if number < 16 { 1 << number } else { 0 }
}

/// The gate cannot judge the instruction at this address: a gather or a scatter, or no instruction at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unjudged(pub u64);

impl Seen {
    /// Decodes the instruction that `bytes` begin with, at `address`.
    ///
    /// # Errors
    ///
    /// [`Unjudged`] for what is no instruction, and for gathers and scatters: none of our kernels has one.
    pub fn decode(address: u64, bytes: &[u8]) -> Result<Self, Unjudged> {
        let instruction = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode();
        let mut factory = InstructionInfoFactory::new();
        let info = factory.info(&instruction);
        let memory = info.used_memory().to_vec();
        let is_write = |access| !matches!(access, OpAccess::Read | OpAccess::CondRead | OpAccess::None);
        let written = info.used_registers().iter().filter(|register| is_write(register.access()));
        let writes = written.fold(0, |bits, register| bits | bit(register.register()));
        if instruction.is_invalid() || memory.iter().any(|memory| memory.vsib_size() != 0) {
            return Err(Unjudged(address));
        }
        let mask = (instruction.op_mask() != Register::None && !memory.is_empty())
            .then(|| instruction.op_mask() as usize - Register::K0 as usize);
        let divisor = matches!(instruction.mnemonic(), Mnemonic::Div | Mnemonic::Idiv).then(|| {
            if instruction.op0_kind() == OpKind::Register {
                instruction.op0_register()
            } else {
                Register::RAX
            }
        });
        let is_repeated = instruction.is_string_instruction()
            && (instruction.has_rep_prefix() || instruction.has_repne_prefix());
        let addressing = memory.iter().flat_map(|memory| [memory.base(), memory.index()]);
        let flow = match instruction.flow_control() {
            FlowControl::Next => Flow::On(instruction.next_ip()),
            FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch
                if instruction.is_jmp_short_or_near() || instruction.is_jcc_short_or_near() =>
            {
                let target = instruction.near_branch_target();
                Flow::Branch(instruction.condition_code(), target, instruction.next_ip())
            }
            _ => Flow::Elsewhere,
        };
        Ok(Self {
            address,
            reads: addressing.fold(0, |bits, register| bits | bit(register)),
            writes,
            flow,
            memory,
            mask,
            divisor,
            is_repeated,
            is_marker: instruction.mnemonic() == Mnemonic::Int3,
            is_evex: instruction.code().encoding() == EncodingKind::EVEX,
        })
    }

    /// Whether the words can be made without stopping here, from the registers as they were before the general
    /// registers in `changed` changed. If so, `changed` takes in what this one writes.
    pub fn follows(&self, changed: &mut u16) -> bool {
        let needs_stop = self.is_marker || self.is_repeated || self.mask.is_some() || self.divisor.is_some();
        let known = self.reads & *changed == 0 && !needs_stop && matches!(self.flow, Flow::On(_));
        *changed |= self.writes;
        known
    }

    /// Appends the address of the instruction, those of its operands in memory, its mask, and a division's operands.
    ///
    /// # Errors
    ///
    /// [`Unjudged`] if an address needs a register that cannot be read.
    pub fn words(&self, registers: &impl Registers, words: &mut Vec<u64>) -> Result<(), Unjudged> {
        words.push(self.address);
        let value = |register: Register| {
            let whole = registers.general(register.full_register())?;
            // Segments have no parts; of a register, an address may take the lower half.
            Some(if register.size() == 4 { whole & 0xffff_ffff } else { whole })
        };
        for memory in &self.memory {
            let address = memory.virtual_address(0, |register, _, _| match register {
                // Flat in 64-bit mode.
                Register::CS | Register::DS | Register::ES | Register::SS => Some(0),
                Register::FS | Register::GS => registers.general(register),
                _ => value(register),
            });
            words.push(address.ok_or(Unjudged(self.address))?);
        }
        if let Some(number) = self.mask {
            words.push(registers.mask(number).ok_or(Unjudged(self.address))?);
        }
        if self.is_repeated {
            words.push(value(Register::RCX).ok_or(Unjudged(self.address))?);
        }
        if let Some(divisor) = self.divisor {
            for register in [Register::RAX, Register::RDX, divisor] {
                words.push(value(register).ok_or(Unjudged(self.address))?);
            }
        }
        Ok(())
    }
}

/// Where two runs first differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// How many instructions ran alike.
    pub steps: usize,
    /// The last instruction that both ran; the branch, where they went apart.
    pub after: u64,
    /// What the first run did: the address of an instruction, or of an operand, a mask, or a division's operand.
    pub expected: u64,
    /// What this run did.
    pub found: u64,
    /// Whether both were at the same instruction.
    pub is_operand: bool,
}

/// Runs with several secrets: the first is remembered, the others are held against it.
#[derive(Default)]
pub struct Comparison {
    reference: Vec<u64>,
    /// Whether the first run is over.
    recorded: bool,
    at: usize,
    /// The number of instructions so far.
    pub steps: usize,
    last: u64,
}

impl Comparison {
    /// Begins the next run.
    pub fn start(&mut self) {
        self.recorded = !self.reference.is_empty();
        (self.at, self.steps, self.last) = (0, 0, 0);
    }

    /// Takes the words of one step.
    ///
    /// # Errors
    ///
    /// The first [`Difference`] from the first run.
    pub fn step(&mut self, words: &[u64]) -> Result<(), Difference> {
        if !self.recorded {
            self.reference.extend_from_slice(words);
        } else {
            for (i, &found) in words.iter().enumerate() {
                let expected = self.reference.get(self.at + i).copied().unwrap_or(0);
                if expected != found {
                    return Err(self.difference(i, words[0], expected, found));
                }
            }
            self.at += words.len();
        }
        self.steps += 1;
        self.last = words[0];
        Ok(())
    }

    /// Ends a run.
    ///
    /// # Errors
    ///
    /// [`Difference`] if the first run went on.
    pub fn end(&self) -> Result<(), Difference> {
        match self.reference.get(self.at) {
            Some(&expected) if self.recorded => Err(self.difference(0, self.last, expected, 0)),
            _ => Ok(()),
        }
    }

    fn difference(&self, word: usize, instruction: u64, expected: u64, found: u64) -> Difference {
        let after = if word == 0 { self.last } else { instruction };
        Difference { steps: self.steps, after, expected, found, is_operand: word != 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ecx = 1, k3 = 0xf0, FS starts at 0x5000; there are eight general registers.
    struct Fixed;

    impl Registers for Fixed {
        fn general(&self, register: Register) -> Option<u64> {
            match register {
                Register::FS => Some(0x5000),
                _ => [1000, 0xffff_ffff_0000_0001, 2, 3, 4000, 5, 6, 7].get(number(register)).copied(),
            }
        }

        fn mask(&self, number: usize) -> Option<u64> {
            (number == 3).then_some(0xf0)
        }
    }

    fn words(bytes: &[u8]) -> Result<Vec<u64>, Unjudged> {
        let mut words = Vec::new();
        Seen::decode(0x100, bytes)?.words(&Fixed, &mut words)?;
        Ok(words)
    }

    #[test]
    fn addresses_are_computed_from_the_registers() {
        // mov rbx, [rax + rdx*8 + 4]
        assert_eq!(words(&[0x48, 0x8b, 0x5c, 0xd0, 0x04]), Ok(vec![0x100, 1020]));
        // mov eax, [rip + 0x10]
        assert_eq!(words(&[0x8b, 0x05, 0x10, 0, 0, 0]), Ok(vec![0x100, 0x116]));
        // mov eax, [ecx]
        assert_eq!(words(&[0x67, 0x8b, 0x01]), Ok(vec![0x100, 1]));
        // mov rax, fs:[0x28]
        assert_eq!(words(&[0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0]), Ok(vec![0x100, 0x5028]));
        // push rax; vmovdqu64 zmm0, [rax]
        assert_eq!(words(&[0x50]), Ok(vec![0x100, 3992]));
        assert_eq!(words(&[0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x00]), Ok(vec![0x100, 1000]));
    }

    #[test]
    fn string_instructions_have_two_operands_and_lea_has_none() {
        // movsb; lea rax, [rbx]
        let mut both = words(&[0xa4]).expect("movsb is judged");
        both.sort_unstable();
        assert_eq!(both, [6, 7, 0x100]);
        assert_eq!(words(&[0x48, 0x8d, 0x03]), Ok(vec![0x100]));
    }

    #[test]
    fn masks_of_operands_in_memory_count_and_others_do_not() {
        // vmovdqu8 [rax]{k3}, zmm0; vmovdqu8 zmm1{k3}, zmm0
        assert_eq!(words(&[0x62, 0xf1, 0x7f, 0x4b, 0x7f, 0x00]), Ok(vec![0x100, 1000, 0xf0]));
        assert_eq!(words(&[0x62, 0xf1, 0x7f, 0x4b, 0x6f, 0xc8]), Ok(vec![0x100]));
    }

    #[test]
    fn a_division_shows_its_operands() {
        // div ebx; div rbx
        assert_eq!(words(&[0xf7, 0xf3]), Ok(vec![0x100, 1000, 2, 3]));
        assert_eq!(words(&[0x48, 0xf7, 0xf3]), Ok(vec![0x100, 1000, 2, 3]));
    }

    #[test]
    fn a_repeated_string_instruction_shows_its_count() {
        // rep stosb
        assert_eq!(words(&[0xf3, 0xaa]), Ok(vec![0x100, 7, 0xffff_ffff_0000_0001]));
    }

    #[test]
    fn an_instruction_follows_while_its_addresses_are_known() {
        let decode = |bytes: &[u8]| Seen::decode(0x100, bytes).expect("all of these are judged");
        // add rdi, 8; mov rax, [rsi]; mov rax, [rdi]
        let mut changed = decode(&[0x48, 0x83, 0xc7, 0x08]).writes;
        assert!(decode(&[0x48, 0x8b, 0x06]).follows(&mut changed));
        assert!(!decode(&[0x48, 0x8b, 0x07]).follows(&mut changed));
        // mov rbx, [rax], which the load before wrote; push rdx, then push rdx
        assert!(!decode(&[0x48, 0x8b, 0x18]).follows(&mut changed));
        assert!(decode(&[0x52]).follows(&mut changed));
        assert!(!decode(&[0x52]).follows(&mut changed));
        // int3; div rbx; rep stosb; vmovdqu8 [rsi]{k3}, zmm0; je; ret
        for stop in [
            &[0xcc][..],
            &[0x48, 0xf7, 0xf3],
            &[0xf3, 0xaa],
            &[0x62, 0xf1, 0x7f, 0x4b, 0x7f, 0x06],
            &[0x74, 0x05],
            &[0xc3],
        ] {
            assert!(!decode(stop).follows(&mut 0), "{stop:x?}");
        }
    }

    #[test]
    fn branches_lead_where_the_flags_say() {
        let flow = |bytes: &[u8]| Seen::decode(0x100, bytes).expect("all of these are judged").flow;
        assert_eq!(flow(&[0x74, 0x05]), Flow::Branch(ConditionCode::e, 0x107, 0x102));
        assert_eq!(flow(&[0xeb, 0xfe]), Flow::Branch(ConditionCode::None, 0x100, 0x102));
        assert_eq!(flow(&[0x90]), Flow::On(0x101));
        // ret; call; jmp rax; jrcxz; syscall
        for bytes in [&[0xc3][..], &[0xe8, 0, 0, 0, 0], &[0xff, 0xe0], &[0xe3, 0], &[0x0f, 0x05]] {
            assert_eq!(flow(bytes), Flow::Elsewhere, "{bytes:x?}");
        }
        let (carry, zero, sign, overflow) = (1, 1 << 6, 1 << 7, 1 << 11);
        assert!(holds(ConditionCode::be, zero) && holds(ConditionCode::be, carry));
        assert!(holds(ConditionCode::a, sign) && !holds(ConditionCode::a, carry));
        assert!(holds(ConditionCode::l, sign) && holds(ConditionCode::l, overflow));
        assert!(!holds(ConditionCode::l, sign | overflow) && holds(ConditionCode::ge, sign | overflow));
        assert!(
            holds(ConditionCode::le, zero) && holds(ConditionCode::g, 0) && !holds(ConditionCode::g, zero)
        );
    }

    #[test]
    fn gathers_and_nonsense_are_unjudged() {
        // vpgatherdd ymm1, [rax + ymm2*4], ymm3
        assert_eq!(words(&[0xc4, 0xe2, 0x65, 0x90, 0x0c, 0x90]), Err(Unjudged(0x100)));
        assert_eq!(words(&[0x06]), Err(Unjudged(0x100)));
        // mov rax, [r8], which these registers do not know
        assert_eq!(words(&[0x49, 0x8b, 0x00]), Err(Unjudged(0x100)));
    }

    #[test]
    fn markers_and_evex_are_known() {
        let marker = Seen::decode(0, &[0xcc]).expect("int3 is judged");
        assert!(marker.is_marker && !marker.is_evex);
        let wide = Seen::decode(0, &[0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x00]).expect("a load is judged");
        assert!(wide.is_evex && !wide.is_marker);
    }

    fn compare(runs: &[&[&[u64]]]) -> Result<usize, Difference> {
        let mut comparison = Comparison::default();
        for run in runs {
            comparison.start();
            run.iter().try_for_each(|words| comparison.step(words))?;
            comparison.end()?;
        }
        Ok(comparison.steps)
    }

    #[test]
    fn equal_runs_are_equal() {
        let run: &[&[u64]] = &[&[1, 50], &[2], &[3, 60, 61]];
        assert_eq!(compare(&[run, run, run]), Ok(3));
    }

    #[test]
    fn another_branch_another_operand_and_another_end_differ() {
        let run: &[&[u64]] = &[&[1, 50], &[2], &[3]];
        let branch = Difference { steps: 2, after: 2, expected: 3, found: 7, is_operand: false };
        assert_eq!(compare(&[run, run, &[&[1, 50], &[2], &[7]]]), Err(branch));
        let operand = Difference { steps: 0, after: 1, expected: 50, found: 51, is_operand: true };
        assert_eq!(compare(&[run, &[&[1, 51], &[2], &[3]]]), Err(operand));
        let short = Difference { steps: 2, after: 2, expected: 3, found: 0, is_operand: false };
        assert_eq!(compare(&[run, &[&[1, 50], &[2]]]), Err(short));
        let long = Difference { steps: 3, after: 3, expected: 0, found: 4, is_operand: false };
        assert_eq!(compare(&[run, &[&[1, 50], &[2], &[3], &[4]]]), Err(long));
    }
}
