//! QEMU's side: plugin API 1, of which these prototypes are all that is used (qemu-plugin.h of QEMU 6 to 9).
#![allow(unsafe_code)] // The interface is C.

use crate::instruction::Instruction;
use crate::region::{Figures, Model, Places, Region};
use crate::{riscv, thumb};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs;
use std::path::PathBuf;
use std::slice;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The version of the interface that this plugin was written for, which QEMU reads.
#[unsafe(no_mangle)]
#[used]
static qemu_plugin_version: c_int = 1;

/// The first field of `qemu_info_t`; the rest is not read.
#[repr(C)]
pub struct Info {
    target_name: *const c_char,
}

/// Opaque.
#[repr(C)]
pub struct Block(());

/// Opaque.
#[repr(C)]
pub struct Translated(());

type OnTranslation = extern "C" fn(u64, *mut Block);
type OnExecution = extern "C" fn(c_uint, *mut c_void);
type OnAccess = extern "C" fn(c_uint, u32, u64, *mut c_void);
type AtExit = extern "C" fn(u64, *mut c_void);

unsafe extern "C" {
    fn qemu_plugin_register_vcpu_tb_trans_cb(id: u64, callback: OnTranslation);
    fn qemu_plugin_register_vcpu_insn_exec_cb(
        at: *mut Translated,
        callback: OnExecution,
        flags: c_int,
        data: *mut c_void,
    );
    fn qemu_plugin_register_vcpu_mem_cb(
        at: *mut Translated,
        callback: OnAccess,
        flags: c_int,
        which: c_int,
        data: *mut c_void,
    );
    fn qemu_plugin_register_atexit_cb(id: u64, callback: AtExit, data: *mut c_void);
    fn qemu_plugin_tb_n_insns(block: *const Block) -> usize;
    fn qemu_plugin_tb_get_insn(block: *const Block, number: usize) -> *mut Translated;
    fn qemu_plugin_insn_data(at: *const Translated) -> *const u8;
    fn qemu_plugin_insn_size(at: *const Translated) -> usize;
    fn qemu_plugin_insn_vaddr(at: *const Translated) -> u64;
    fn qemu_plugin_mem_size_shift(info: u32) -> c_uint;
    fn qemu_plugin_mem_is_store(info: u32) -> bool;
}

/// `QEMU_PLUGIN_CB_NO_REGS`, and `QEMU_PLUGIN_MEM_RW`.
const NO_REGISTERS: c_int = 0;
const LOADS_AND_STORES: c_int = 3;

struct Plugin {
    region: Region,
    list: Option<PathBuf>,
}

/// Set once, by `qemu_plugin_install`, and never freed.
static PLUGIN: AtomicPtr<Plugin> = AtomicPtr::new(std::ptr::null_mut());

fn plugin() -> &'static mut Plugin {
    // SAFETY: `qemu_plugin_install` set the pointer before it registered any callback. The machines have one processor, whose thread
    // translates, executes and ends, so that no two callbacks run at once, and none keeps the reference.
    unsafe { &mut *PLUGIN.load(Ordering::Relaxed) }
}

/// QEMU's call when it loads the plugin.
///
/// # Safety
///
/// `info` and `arguments` are QEMU's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: u64,
    info: *const Info,
    count: c_int,
    arguments: *const *const c_char,
) -> c_int {
    // SAFETY: QEMU gives a struct that begins with the name of the target, and `count` C strings.
    let (target, arguments) = unsafe {
        let arguments = slice::from_raw_parts(arguments, usize::try_from(count).unwrap_or(0));
        let arguments = arguments.iter().map(|argument| CStr::from_ptr(*argument).to_string_lossy());
        (CStr::from_ptr((*info).target_name).to_string_lossy(), arguments.collect::<Vec<_>>())
    };
    let model = match &*target {
        "arm" => Model { decode: thumb::decode, cycles: thumb::cycles },
        "riscv32" => Model { decode: riscv::decode, cycles: riscv::cycles },
        _ => return refuse(&format!("{target} is neither arm nor riscv32")),
    };
    let (mut mark, mut low, mut high, mut list) = (None, None, None, None);
    for argument in &arguments {
        let place = match argument.split_once('=') {
            Some(("list", file)) => {
                list = Some(PathBuf::from(file));
                continue;
            }
            Some(("mark", value)) => (&mut mark, value),
            Some(("low", value)) => (&mut low, value),
            Some(("high", value)) => (&mut high, value),
            _ => return refuse(&format!("no argument {argument:?}")),
        };
        *place.0 = u64::from_str_radix(place.1.trim_start_matches("0x"), 16).ok();
    }
    let (Some(mark), Some(low), Some(high)) = (mark, low, high) else {
        return refuse("mark=, low= and high= are addresses in hexadecimal, and all are needed");
    };
    let mut region = Region::new(model, Places { mark, stack: low..high });
    region.list = list.as_ref().map(|_| Vec::new());
    PLUGIN.store(Box::into_raw(Box::new(Plugin { region, list })), Ordering::Relaxed);
    // SAFETY: the callbacks have the types that QEMU asks for.
    unsafe {
        qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
        qemu_plugin_register_atexit_cb(id, end, std::ptr::null_mut());
    }
    0
}

fn refuse(why: &str) -> c_int {
    eprintln!("{why}");
    -1
}

extern "C" fn translate(_: u64, block: *mut Block) {
    // SAFETY: QEMU's own block, and numbers below its length; the bytes are there while the callback runs.
    unsafe {
        for number in 0..qemu_plugin_tb_n_insns(block) {
            let at = qemu_plugin_tb_get_insn(block, number);
            let bytes = slice::from_raw_parts(qemu_plugin_insn_data(at), qemu_plugin_insn_size(at));
            let instruction = plugin().region.decode(qemu_plugin_insn_vaddr(at) as u32, bytes);
            // It stays as long as QEMU may run it, which is to the end.
            let data = Box::into_raw(Box::new(instruction)).cast();
            qemu_plugin_register_vcpu_insn_exec_cb(at, execute, NO_REGISTERS, data);
            qemu_plugin_register_vcpu_mem_cb(at, access, NO_REGISTERS, LOADS_AND_STORES, data);
        }
    }
}

extern "C" fn execute(_: c_uint, data: *mut c_void) {
    // SAFETY: `translate` made the pointer from an instruction that is never freed.
    let instruction: &'static Instruction = unsafe { &*data.cast() };
    plugin().region.execute(instruction);
}

extern "C" fn access(_: c_uint, info: u32, address: u64, _: *mut c_void) {
    // SAFETY: `info` is what QEMU gave.
    let (shift, store) = unsafe { (qemu_plugin_mem_size_shift(info), qemu_plugin_mem_is_store(info)) };
    if let Some(Figures { instructions, cycles, stack, trace }) =
        plugin().region.access(address, shift, store)
    {
        eprintln!("@region instructions={instructions} cycles={cycles} stack={stack} trace={trace:016x}");
    }
}

extern "C" fn end(_: u64, _: *mut c_void) {
    let Plugin { region, list } = plugin();
    if let (Some(file), Some(entries)) = (list, &region.list) {
        let bytes: Vec<u8> = entries.iter().flat_map(|entry| entry.to_le_bytes()).collect();
        if let Err(error) = fs::write(&*file, bytes) {
            eprintln!("{}: {error}", file.display());
        }
    }
}
