"""Object code that loads shared libraries at the first call of one of their functions, in place of at the start of the program.

FFmpeg's libraries load about 120 others, which takes five times as long as the rest of the start: `--version`, `--help` and the commands that
play nothing do not need them. Each function gets an entry of the same name that jumps through a slot; the slot first leads to code that loads
the library, finds the function, and stores its address.
"""
import os
import re
import subprocess

# For each architecture: the entry of a function, and the common code that asks `lazy_find` for the address. All argument registers survive.
ENTRY = {
    "x86_64": """
.globl {name}
.type {name}, %function
{name}:
    endbr64
    jmp *lazy_slots+8*{index}(%rip)
.size {name}, . - {name}
.Lfirst{index}:
    endbr64
    pushq ${index}
    jmp .Lfind
""",
    "aarch64": """
.globl {name}
.type {name}, %function
{name}:
    adrp x16, lazy_slots+8*{index}
    ldr x16, [x16, :lo12:lazy_slots+8*{index}]
    br x16
.size {name}, . - {name}
.Lfirst{index}:
    mov x17, #{index}
    b .Lfind
""",
}
FIND = {
    "x86_64": """
.Lfind:
    pushq %rbp
    movq %rsp, %rbp
    pushq %rdi
    pushq %rsi
    pushq %rdx
    pushq %rcx
    pushq %r8
    pushq %r9
    pushq %rax
    subq $128, %rsp
""" + "".join(f"    movaps %xmm{n}, {16 * n}(%rsp)\n" for n in range(8)) + """
    movq 8(%rbp), %rdi
    call lazy_find
    movq %rax, %r11
""" + "".join(f"    movaps {16 * n}(%rsp), %xmm{n}\n" for n in range(8)) + """
    addq $128, %rsp
    popq %rax
    popq %r9
    popq %r8
    popq %rcx
    popq %rdx
    popq %rsi
    popq %rdi
    popq %rbp
    addq $8, %rsp
    jmp *%r11
""",
    "aarch64": """
.Lfind:
    stp x29, x30, [sp, #-224]!
    mov x29, sp
""" + "".join(f"    stp x{n}, x{n + 1}, [sp, #{16 + 8 * n}]\n" for n in (0, 2, 4, 6)) + """
    str x8, [sp, #80]
""" + "".join(f"    stp q{n}, q{n + 1}, [sp, #{96 + 16 * n}]\n" for n in (0, 2, 4, 6)) + """
    mov x0, x17
    bl lazy_find
    mov x16, x0
""" + "".join(f"    ldp x{n}, x{n + 1}, [sp, #{16 + 8 * n}]\n" for n in (0, 2, 4, 6)) + """
    ldr x8, [sp, #80]
""" + "".join(f"    ldp q{n}, q{n + 1}, [sp, #{96 + 16 * n}]\n" for n in (0, 2, 4, 6)) + """
    ldp x29, x30, [sp], #224
    br x16
""",
}

FINDER = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const names[] = { %(names)s };
static const unsigned char owners[] = { %(owners)s };
static const char *const libraries[] = { %(libraries)s };
extern void *lazy_slots[];

__attribute__((visibility("hidden"))) void *lazy_find(long index) {
    /* dlopen counts references and locks: a thread that loses a race gets the same address. */
    void *library = dlopen(libraries[owners[index]], RTLD_LAZY | RTLD_LOCAL);
    void *address = library ? dlsym(library, names[index]) : NULL;
    if (!address) {
        fprintf(stderr, "cannot load %%s: %%s\nInstall the library, or the package of this program for this system.\n",
                libraries[owners[index]], dlerror());
        _Exit(127);
    }
    __atomic_store_n(&lazy_slots[index], address, __ATOMIC_RELEASE);
    return address;
}
"""


class Unsuitable(Exception):
    """Why the libraries cannot be loaded lazily; they are then linked as usual."""


def output(*command):
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unsuitable(f"{command[0]} failed ({error})") from error


def make(libraries, objects, clang, work):
    """The object that loads these libraries (`avformat`) lazily for these objects, and a shared object that names them.

    The shared object is not installed: dpkg-shlibdeps reads from it which packages the program needs.
    """
    machine = os.uname().machine
    if machine not in ENTRY:
        raise Unsuitable(f"there is no code for {machine}")
    wanted = set(re.findall(r" U (\w+)$", output("nm", "-u", *objects), re.M))
    functions, sonames = [], []
    for library in libraries:
        path = output(clang, f"-print-file-name=lib{library}.so").strip()
        soname = re.search(r"SONAME\s+(\S+)", output("objdump", "-p", path))
        if not soname:
            raise Unsuitable(f"{path} has no name")
        for kind, name in re.findall(r"^\S+ (\S) (\w+)(?:@\S+)?$", output("nm", "-D", "--defined-only", path), re.M):
            if name in wanted:
                if kind != "T":
                    raise Unsuitable(f"{name} of {soname.group(1)} is no function")
                functions.append((name, len(sonames)))
        sonames.append(soname.group(1))
    functions.sort()
    if not functions:
        raise Unsuitable("no function of the libraries is used")
    entries = "".join(ENTRY[machine].format(name=name, index=index) for index, (name, _) in enumerate(functions))
    slots = "".join(f"    .quad .Lfirst{index}\n" for index in range(len(functions)))
    finder, assembly = os.path.join(work, "finder.c"), os.path.join(work, "entries.s")
    with open(finder, "w", encoding="ascii") as file:
        file.write(FINDER % {
            "names": ", ".join(f'"{name}"' for name, _ in functions),
            "owners": ", ".join(str(owner) for _, owner in functions),
            "libraries": ", ".join(f'"{soname}"' for soname in sonames),
        })
    with open(assembly, "w", encoding="ascii") as file:
        file.write(f".text\n{entries}{FIND[machine]}\n.data\n.p2align 3\n.globl lazy_slots\n.hidden lazy_slots\nlazy_slots:\n{slots}")
        file.write('.section .note.GNU-stack,"",%progbits\n')
    made = []
    for source in (finder, assembly):
        made.append(source + ".o")
        output(clang, "-O2", "-fPIC", "-c", source, "-o", made[-1])
    names = os.path.join(work, "names.c")
    with open(names, "w", encoding="ascii") as file:
        file.write("".join(f"extern void {name}(void);\n" for name, _ in functions))
        file.write("void *const uses[] = { " + ", ".join(f"(void *){name}" for name, _ in functions) + " };\n")
    shared = os.path.join(work, "loaded-later.so")
    output(clang, "-shared", "-fPIC", "-fno-builtin", names, *(f"-l{library}" for library in libraries), "-o", shared)
    return made, shared
