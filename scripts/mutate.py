#!/usr/bin/env python3
"""Breaks definitions of the source, one at a time, and says which changes no test notices.

usage: scripts/mutate.py [--sources Sources/Metricalcs/Quality] [--tests QualityTests] [--count 40] [--seed 1] [--list]

A change replaces one operator, number or truth value of one line. The script copies the package into a temporary
folder, keeps only what the tests need, builds each change and runs the tests. A change is `killed` if a test fails or
the tests do not end, `invalid` if it does not compile, and `SURVIVED` if all tests pass: either a test is missing, or
the change means the same. The exit code is 1 if a change survived.
"""
import argparse
import collections
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

Change = collections.namedtuple("Change", "file line old new")

REPLACEMENTS = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " + "), (r" / ", " * "),
    (r" \+= ", " -= "), (r" -= ", " += "), (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"\bmax\(", "min("),
    (r"\bmin\(", "max("), (r"(?<=[ (\[-])!(?=[a-z(])", ""), (r"\bisEmpty\b", "isEmpty == false"),
]
NUMBER = re.compile(r"(?<![\w.\"$])(\d[\d_]*)(?![\w\"])")


def changes_of(path):
    """All changes of a file's lines of code."""
    is_text = False
    for index, line in enumerate(path.read_text().splitlines()):
        code = line.split("//")[0]
        if '"""' in line:
            is_text = not is_text
            continue
        if is_text or not code.strip() or code.lstrip().startswith(("import ", "internal import", "public import", "package import")):
            continue
        text_places = [match.span() for match in re.finditer(r'"(\\.|[^"\\])*"', code)]
        inside_text = lambda place: any(begin <= place < end for begin, end in text_places)
        for pattern, replacement in REPLACEMENTS:
            for match in re.finditer(pattern, code):
                if not inside_text(match.start()):
                    yield Change(path, index, line, line[: match.start()] + replacement + line[match.end():])
        for match in NUMBER.finditer(code):
            if not inside_text(match.start()):
                value = int(match.group(1).replace("_", ""))
                yield Change(path, index, line, line[: match.start()] + str(value + 1) + line[match.end():])


def reduce_manifest(folder, tests):
    """Keeps the targets that the tests need, and no product, so that a change is built and linked quickly."""
    # In a separate folder, so that it waits for no build.
    command = ["swift", "package", "--scratch-path", ".build/graph", "dump-package"]
    text = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    depends = {
        target["name"]: [(item.get("byName") or item.get("target") or [None])[0] for item in target["dependencies"]]
        for target in json.loads(text)["targets"]
    }
    needed, waiting = set(), [tests]
    while waiting:
        name = waiting.pop()
        if name in depends and name not in needed:
            needed.add(name)
            waiting += depends[name]
    names = ", ".join(f'"{name}"' for name in sorted(needed))
    with (folder / "Package.swift").open("a") as file:
        file.write(f"\npackage.products = []\npackage.targets.removeAll {{ ![{names}].contains($0.name) }}\n")
    return needed


def run(command, folder, seconds):
    """The exit code and output of a command; None if it did not end in time."""
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        subprocess.run(["kill", "-9", f"-{process.pid}"], check=False)
        process.communicate()
        return None, ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", default="Sources/Metricalcs/Quality", help="the folder whose definitions are broken")
    parser.add_argument("--tests", default="QualityTests", help="the test target that must notice")
    parser.add_argument("--count", type=int, default=40, help="how many changes to try")
    parser.add_argument("--seed", type=int, default=1, help="which changes to try")
    parser.add_argument("--list", action="store_true", help="print the changes without trying them")
    options = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    work = pathlib.Path(tempfile.mkdtemp(prefix="instrument-mutation-"))
    try:
        return try_changes(options, root, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def try_changes(options, root, work):
    files = subprocess.run(["git", "ls-files"], cwd=root, check=True, capture_output=True, text=True).stdout.split("\n")
    for name in filter(None, files):
        if (root / name).is_file():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, work / name)
    changes = [c for path in sorted((work / options.sources).rglob("*.swift")) for c in changes_of(path)]
    random.Random(options.seed).shuffle(changes)
    changes = changes[: options.count]
    if options.list:
        for change in changes:
            print(place(change, work), change.new.strip())
        return 0
    reduce_manifest(work, options.tests)
    build = ["swift", "build", "--build-tests"]
    test = ["swift", "test", "--skip-build", "--filter", options.tests + r"\."]
    started = time.monotonic()
    for command in (build, test):
        code, output = run(command, work, 3600)
        if code != 0:
            sys.exit(f"error: `{' '.join(command)}` fails without a change:\n{output[-3000:]}")
    seconds = 60 + 5 * (time.monotonic() - started)
    counts = collections.Counter()
    for number, change in enumerate(changes, 1):
        result = outcome(change, build, test, work, seconds)
        counts[result] += 1
        print(f"{number}/{len(changes)} {result:8} {place(change, work)}: {change.new.strip()}", flush=True)
    print(", ".join(f"{count} {result}" for result, count in sorted(counts.items())))
    return 1 if counts["SURVIVED"] else 0


def outcome(change, build, test, work, seconds):
    lines = change.file.read_text().split("\n")
    lines[change.line] = change.new
    change.file.write_text("\n".join(lines))
    try:
        if run(build, work, seconds)[0] != 0:
            return "invalid"
        return "SURVIVED" if run(test, work, seconds)[0] == 0 else "killed"
    finally:
        lines[change.line] = change.old
        change.file.write_text("\n".join(lines))


def place(change, work):
    return f"{change.file.relative_to(work)}:{change.line + 1}"


if __name__ == "__main__":
    sys.exit(main())
