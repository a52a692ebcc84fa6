#!/usr/bin/env python3
"""Makes an object file with the part of Foundation's Unicode data that the programs use.

    packaging/reduce-unicode-data.py OBJECT

Foundation, linked statically, brings ICU's data for every language: 34 MB. The programs speak English, in no locale. The object defines the
same symbol with the data of the root locale and of English; a linker that finds the symbol there leaves the member of the archive out. The
data come from the toolchain's own archive, byte for byte; only the table of contents is written again.

Exit codes: 0 written, 1 the archive has another form than expected. The program then links with all data: larger, and otherwise the same.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ARCHIVE = "lib/swift_static/linux/lib_FoundationICU.a"
MEMBER = "icu_packaged_data.cpp.o"

# Folders of data for one locale each. Other locales than these fall back to the root.
BY_LOCALE = {"", "brkitr", "coll", "curr", "lang", "rbnf", "region", "unit", "zone"}
KEPT_LOCALE = re.compile(r"(root|pool|res_index|en|en_001|en_US|en_US_POSIX)\.res")
LOCALE = re.compile(r"[a-z]{2,3}(_[A-Za-z0-9]+)*\.res")
# Converters of text that is not Unicode, dictionaries of words, lookalikes, transliterations, names of characters.
OMITTED = re.compile(r".*\.cnv|.*\.dict|.*\.cfu|translit/.*|unames\.icu")


def fail(message):
    sys.exit(f"reduce-unicode-data: {message}")


def is_kept(path):
    if OMITTED.fullmatch(path):
        return False
    folder, _, name = path.rpartition("/")
    return folder not in BY_LOCALE or not LOCALE.fullmatch(name) or bool(KEPT_LOCALE.fullmatch(name))


def entries(data):
    """The header, and each item as path and bytes. Format: ICU's udata.h and ucmndata.h."""
    if len(data) < 32 or data[2:4] != b"\xda\x27" or data[12:16] != b"CmnD":
        fail("the data begin with no header of ICU")
    start = struct.unpack_from("<H", data)[0]
    count = struct.unpack_from("<I", data, start)[0]
    table = [struct.unpack_from("<II", data, start + 4 + 8 * index) for index in range(count)]
    offsets = [offset for _, offset in table] + [len(data) - start]
    if offsets != sorted(offsets) or not 0 < count < 100_000:
        fail("the table of contents of the data is not in order")
    items = []
    for index, (name, _) in enumerate(table):
        text = data[start + name : data.index(b"\0", start + name)].decode("ascii")
        items.append((text, data[start + offsets[index] : start + offsets[index + 1]]))
    return data[:start], items


def written(header, items):
    names, offsets = bytearray(), []
    base = 4 + 8 * len(items)
    for name, _ in items:
        offsets.append(base + len(names))
        names += name.encode("ascii") + b"\0"
    body, table = bytearray(), bytearray(struct.pack("<I", len(items)))
    first = -(-(len(header) + base + len(names)) // 16) * 16 - len(header)
    for (_, content), name in zip(items, offsets):
        body += b"\0" * (-(first + len(header) + len(body)) % 16)
        table += struct.pack("<II", name, first + len(body))
        body += content
    contents = table + names
    return header + contents + b"\0" * (first - len(contents)) + body


def main():
    if len(sys.argv) != 2:
        fail("usage: reduce-unicode-data.py OBJECT")
    swift = shutil.which(os.environ.get("SWIFT", "swift"))
    if not swift:
        fail("there is no Swift toolchain on PATH")
    toolchain = os.path.dirname(os.path.dirname(os.path.realpath(swift)))
    archive = os.path.join(toolchain, ARCHIVE)
    if not os.path.exists(archive):
        fail(f"the toolchain has no {ARCHIVE}")
    clang = os.path.join(toolchain, "bin", "clang")
    with tempfile.TemporaryDirectory() as work:
        try:
            subprocess.run(["ar", "x", archive, MEMBER], cwd=work, check=True)
            symbols = subprocess.run(["nm", MEMBER], cwd=work, check=True, capture_output=True, text=True).stdout.split()
            subprocess.run(["objcopy", "-O", "binary", "-j", ".rodata", MEMBER, "all"], cwd=work, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            fail(f"cannot read {MEMBER} ({error})")
        if len(symbols) != 3 or not re.fullmatch(r"icudt\d+_dat", symbols[2]):
            fail(f"{MEMBER} must define one symbol, icudt…_dat (found {' '.join(symbols)})")
        with open(os.path.join(work, "all"), "rb") as file:
            header, items = entries(file.read())
        prefix = items[0][0].split("/")[0] + "/"
        kept = [(name, content) for name, content in items if is_kept(name.removeprefix(prefix))]
        with open(os.path.join(work, "kept"), "wb") as file:
            file.write(written(header, kept))
        with open(os.path.join(work, "kept.s"), "w") as file:
            file.write(
                f".section .rodata\n.globl {symbols[2]}\n.p2align 4\n.type {symbols[2]}, %object\n{symbols[2]}:\n"
                f'.incbin "kept"\n.size {symbols[2]}, . - {symbols[2]}\n.section .note.GNU-stack,"",%progbits\n'
            )
        subprocess.run([clang, "-c", "kept.s", "-o", "kept.o"], cwd=work, check=True)
        size = os.path.getsize(os.path.join(work, "kept"))
        os.makedirs(os.path.dirname(os.path.abspath(sys.argv[1])), exist_ok=True)
        shutil.move(os.path.join(work, "kept.o"), sys.argv[1])
    print(f"Unicode data: {len(kept)} of {len(items)} items, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
