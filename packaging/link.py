#!/usr/bin/env python3
"""Links the programs of a release build once more, as they are shipped: with the Swift library inside, small, and without symbols.

    packaging/link.py [--symbols] FOLDER [PROGRAM…]

The objects are those of `swift build -c release`; nothing is compiled again, and the tests run the same code. Each link takes the command
that the build has used, and changes it. --symbols keeps the symbols, for measuring what the programs are made of.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import lazy_libraries

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("BUILD", os.path.join(os.path.dirname(HERE), ".build"))
PROGRAMS = ["player-monitor", "test-origin"]

# Modules whose static variants consist of more archives than an object that was compiled for the shared ones names.
MODULES = ["Foundation", "FoundationEssentials", "FoundationInternationalization", "FoundationNetworking", "FoundationXML"]

# Loaded when the program first plays something: see lazy_libraries.py.
LAZY = ["avformat", "avcodec"]

LINKER = ["--gc-sections", "-O2", "-z", "pack-relative-relocs", "-z", "relro", "-z", "now", "--no-export-dynamic"]


def fail(message):
    sys.exit(f"link: {message}")


def commands(manifest):
    """The commands that linked the executables, by program."""
    found = {}
    name = None
    with open(manifest, encoding="utf-8") as file:
        for line in file:
            if line.startswith('  "'):
                match = re.match(r'  "C\.(.+)-[^-]+-[^-]+-[^-]+-[^-]+-release\.exe":', line)
                name = match.group(1) if match else None
            elif name and line.startswith("    args: "):
                found[name] = json.loads(line.removeprefix("    args: "))
    return found


def objects(command):
    """The object files of a command, which are in files of arguments."""
    found = []
    for argument in command:
        if argument.startswith("@"):
            with open(argument[1:], encoding="utf-8") as file:
                found += shlex.split(file.read())
    missing = [path for path in found if not os.path.exists(path)]
    if missing:
        fail(f"the build is incomplete: {missing[0]} does not exist. Repeat: swift build -c release")
    return found


def modules_of(files, swiftc):
    """Those of MODULES that these objects use."""
    extract = os.path.join(os.path.dirname(os.path.realpath(swiftc)), "swift-autolink-extract")
    libraries = subprocess.run([extract, *files, "-o", "-"], check=True, capture_output=True, text=True).stdout.split()
    return [module for module in MODULES if f"-l{module}" in libraries]


def archives_of(modules, swiftc, work):
    """An object that imports the static variants of modules, and so names their archives."""
    source, made = os.path.join(work, "archives.swift"), os.path.join(work, "archives.o")
    with open(source, "w", encoding="utf-8") as file:
        file.write("".join(f"import {module}\n" for module in modules + ["Synchronization"]))
    subprocess.run([swiftc, "-O", "-static-stdlib", "-parse-as-library", "-c", source, "-o", made], check=True)
    return made


def main():
    arguments = sys.argv[1:]
    has_symbols = "--symbols" in arguments
    arguments = [argument for argument in arguments if argument != "--symbols"]
    if not arguments:
        fail("usage: packaging/link.py [--symbols] FOLDER [PROGRAM…]")
    folder, programs = os.path.abspath(arguments[0]), arguments[1:] or PROGRAMS
    swiftc = shutil.which(os.environ.get("SWIFT", "swift") + "c")
    if not swiftc:
        fail("there is no Swift toolchain on PATH")
    clang = os.path.join(os.path.dirname(os.path.realpath(swiftc)), "clang")
    manifest = os.path.join(BUILD, "release.yaml")
    if not os.path.exists(manifest):
        fail(f"{manifest} does not exist. Run: swift build -c release")
    known = commands(manifest)
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        unicode_data = []
        data = os.path.join(work, "unicode-data.o")
        if subprocess.run([os.path.join(HERE, "reduce-unicode-data.py"), data], check=False).returncode == 0:
            unicode_data.append(data)
        else:
            print("link: the programs contain all Unicode data", file=sys.stderr)
        # The compiler passes options for the linker after the libraries; this one must precede them.
        linker = os.path.join(work, "ld")
        with open(linker, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec "{os.path.join(os.path.dirname(clang), "ld.lld")}" --as-needed "$@"\n')
        os.chmod(linker, 0o755)
        for program in programs:
            if program not in known:
                fail(f"{manifest} has no program '{program}'. Run: swift build -c release --product {program}")
            given = known[program]
            output = os.path.join(work, program)
            command = [argument for argument in given if argument != "-g"]
            command[command.index("-o") + 1] = output
            modules = modules_of(objects(command), swiftc)
            if "Foundation" in modules or "FoundationInternationalization" in modules:
                command = [swiftc, *unicode_data, *command[1:]]
            archives = archives_of(modules, swiftc, work)
            later = None
            if all(f"-l{library}" in command for library in LAZY):
                try:
                    made, later = lazy_libraries.make(LAZY, objects(command), clang, work)
                    # First, so that the linker finds the functions there and not in the libraries.
                    command = [swiftc, *made, *command[1:]]
                except lazy_libraries.Unsuitable as reason:
                    print(f"link: {program} loads all libraries at its start: {reason}", file=sys.stderr)
            command += [archives, "-static-stdlib", f"-use-ld={linker}"]
            for option in LINKER + ([] if has_symbols else ["--strip-all"]):
                command += ["-Xlinker", option]
            result = subprocess.run(command, check=False, capture_output=True, text=True)
            if result.returncode != 0:
                fail(f"cannot link {program}:\n{result.stdout}{result.stderr}")
            os.replace(output, os.path.join(folder, program))
            if later:
                os.replace(later, os.path.join(folder, f"{program}-loads-later.so"))
            print(f"{os.path.join(folder, program)}: {os.path.getsize(os.path.join(folder, program)) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
