#!/usr/bin/env python3
"""Writes the public surface of each product into api/PRODUCT.txt, or compares, so that a change of the surface is a line of a diff.

    scripts/list-api.py GRAPHS [--update]

GRAPHS has a folder of symbol graphs for each module, as scripts/check-documentation.sh makes them. A line is a declaration behind the names
that it is nested in. Without --update, the script exits with 1 and prints the difference if a file is out of date.
"""
import argparse, difflib, json, pathlib, re, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Modules whose symbols exist on Apple platforms alone: the surface is that of Linux.
ELSEWHERE = {"InstrumentAVPlayer", "InstrumentIMA", "InstrumentSwiftUI"}


def products():
    command = ["swift", "package", "--scratch-path", ".build/graph", "dump-package"]
    package = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    return {product["name"]: product["targets"] for product in package["products"] if "library" in product["type"]}


def surface(graphs, module):
    """The declarations of a module, in order, each once."""
    lines = set()
    for file in (graphs / module).glob("*.symbols.json"):
        for symbol in json.loads(file.read_text(encoding="utf-8"))["symbols"]:
            text = "".join(fragment["spelling"] for fragment in symbol["declarationFragments"])
            text = re.sub(r"\s+", " ", text).strip()
            # A synthesized witness has no place in a file of ours.
            if "location" in symbol:
                lines.add(f"{'.'.join(symbol['pathComponents'])}: {text}")
    return sorted(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    folder = ROOT / "api"
    folder.mkdir(exist_ok=True)
    differs, count = False, 0
    seen = set()
    for product, modules in sorted(products().items()):
        text = ""
        for module in sorted(set(modules) - ELSEWHERE):
            lines = surface(options.graphs, module)
            if module not in seen:
                count += len(lines)
            seen.add(module)
            text += f"== {module}\n" + "".join(line + "\n" for line in lines)
        if not text:
            continue
        file = folder / f"{product}.txt"
        old = file.read_text(encoding="utf-8") if file.exists() else ""
        if old == text:
            continue
        if options.update:
            file.write_text(text, encoding="utf-8")
        else:
            differs = True
            sys.stderr.writelines(difflib.unified_diff(old.splitlines(True), text.splitlines(True), f"api/{product}.txt", "sources", n=0))
    print(f"{count} public declarations")
    if differs:
        sys.exit("The public surface differs from the files in api: review the difference, and run scripts/check-documentation.sh --update.")


if __name__ == "__main__":
    main()
