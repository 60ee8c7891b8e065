// The tests in C without an operating system: the program starts at reset, tells through the debugger's semihosting what came
// out, and supplies what gambeson_port.h asks for.

#include "../checks.h"
#include "gambeson_port.h"

int checks;

static int semihosting(int operation, const void *argument)
{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static void print(const char *text)
{
    semihosting(0x04, text); // SYS_WRITE0
}

static void print_number(int number)
{
    char digits[12], *at = digits + 11;
    *at = 0;
    do *--at = (char)('0' + number % 10); while (number /= 10);
    print(at);
}

static _Noreturn void end(int is_well)
{
    // SYS_EXIT with ADP_Stopped_ApplicationExit, or with another reason, which the emulator takes for failure.
    semihosting(0x18, (const void *)(is_well ? 0x20026 : 0x20023));
    for (;;) {}
}

void failed(const char *file, int line, const char *check)
{
    print(file), print(":"), print_number(line), print(": "), print(check), print("\n");
    end(0);
}

// No entropy at all: for tests, where two numbers in a row only have to differ.
int gambeson_port_entropy(uint8_t *out, size_t len)
{
    static uint32_t state = 1;
    for (size_t i = 0; i < len; i++) {
        state = state * 1664525 + 1013904223;
        out[i] = (uint8_t)(state >> 24);
    }
    return 0;
}

static void fault(void)
{
    print("fault\n");
    end(0);
}

void start(void)
{
    extern uint32_t data_begin[], data_end[], data_source[], bss_begin[], bss_end[];
    for (uint32_t *to = data_begin, *from = data_source; to < data_end;) *to++ = *from++;
    for (uint32_t *to = bss_begin; to < bss_end;) *to++ = 0;
    misuse();
    doors();
    hash_based(0);
    answers(0);
    print_number(checks), print(" checks\n");
    end(1);
}

extern char stack_top[];

__attribute__((section(".vectors"), used)) static const void *const vectors[8] = {
    stack_top, start, fault, fault, fault, fault, fault, 0,
};
