#!/usr/bin/env python3
"""Prints the numbers of the project's shape: folders, lines, public declarations, and types spread over many files.

    scripts/measure-house.py [--files 4]

A type is spread over the files of its target that declare or extend it. Extensions in other targets do not count, nor do those that have static
members alone: the values of an open set. Lists the types that are spread over more files than --files, the largest first, with their lines.
"""
import argparse, collections, json, pathlib, re, subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
DECLARATION = re.compile(r"^(?:@\w+(?:\([^)]*\))? )*(?:(?:public|package|internal|fileprivate|private|final|indirect) )*(struct|class|enum|actor|protocol|extension) ([\w.]+)", re.M)
MEMBER = re.compile(r"^    (?:@\w+(?:\([^)]*\))? )*(?:(?:\w+|private\(set\)) )*?(static )?(?:func|var|let|init\??|subscript|case|struct|enum|class)\b", re.M)
PUBLIC = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))? )*(?:public|open) (?!import\b)(?=[a-z@])", re.M)


def target_folders():
    text = subprocess.run(
        ["swift", "package", "--scratch-path", ".build/graph", "dump-package"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    folders = [target["path"] for target in json.loads(text)["targets"] if target.get("path", "").startswith("Sources/")]
    return sorted(folders, key=len, reverse=True)


def spread(files, folders):
    """The files, and the lines of their declarations, of each type of a folder."""
    places, lines, declared = collections.defaultdict(set), collections.Counter(), set()
    for path, text in files.items():
        folder = next((folder for folder in folders if path.startswith(folder + "/")), "Sources/Instrument")
        for match in DECLARATION.finditer(text):
            key = (folder, match.group(2))
            end = text.find("\n}", match.end())
            body = text[match.end(): end if end >= 0 else len(text)]
            if match.group(1) != "extension":
                declared.add(key)
            elif members := MEMBER.findall(body):
                if all(members):
                    continue
            places[key].add(path)
            lines[key] += body.count("\n") + 1
    return [(len(places[key]), lines[key], key) for key in declared]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=4, help="the most files of a type that is not listed")
    options = parser.parse_args()
    files = {str(path.relative_to(ROOT)): path.read_text() for path in (ROOT / "Sources").rglob("*.swift")}
    wide = sorted((entry for entry in spread(files, target_folders()) if entry[0] > options.files), reverse=True)
    print(f"{sum(1 for path in (ROOT / 'Sources').iterdir() if path.is_dir()):7} folders in Sources")
    print(f"{(ROOT / 'Package.swift').read_text().count(chr(10)):7} lines in Package.swift")
    print(f"{sum(text.count(chr(10)) for text in files.values()):7} lines in {len(files)} files of Sources")
    print(f"{sum(len(PUBLIC.findall(text)) for text in files.values()):7} public declarations")
    print(f"{len(wide):7} types in more than {options.files} files of their folder")
    for count, lines, (folder, name) in wide:
        print(f"        {name} ({folder}): {count} files, {lines} lines")


if __name__ == "__main__":
    main()
