#!/bin/sh
# Type-checks every ```swift block of README.md, docs, the DocC catalogs and the doc comments against the built modules, in Swift 6 mode.
# A block may use the names of scripts/snippet-context.swift, for example `backend` or `instrument`, and stands for the body of an
# async throwing function; its types and extensions are at file scope. A block with imports sees only what it imports; any other
# block sees every library. `…` on a line, or between braces, stands for code that is left out. Lines of a package manifest
# (`.package(…)`) are not checked, nor are the AVPlayer tracker (Apple platforms only), InstrumentServiceLifecycle, which is empty
# while its trait is off (Examples/ServiceLifecycle builds it), and InstrumentTerminal, InstrumentReplay and InstrumentReport, whose
# declarations are visible in this package only.
# Every page of a catalog must have an example.
# Usage: scripts/check-snippets.sh   (after a build)
set -eu

cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
binaries=.build/debug
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

python3 - "$folder" <<'PYTHON'
import glob, os, re, sys

folder = sys.argv[1]
context = open("scripts/snippet-context.swift").read()
libraries = sorted(set(re.findall(r"^public import (\w+)", context, re.M)))
declaration = re.compile(r"^(?:public |final |private )*(?:extension|struct|class|enum|protocol|actor)\b")
pages = ["README.md"] + sorted(glob.glob("docs/**/*.md", recursive=True) + glob.glob("Sources/**/*.md", recursive=True) + glob.glob("Sources/**/*.swift", recursive=True))


def blocks(page):
    """The Swift blocks of a page, each with the line number of its first line."""
    lines, first = None, 0
    for number, line in enumerate(open(page, encoding="utf-8"), 1):
        text = line.rstrip("\n")
        if page.endswith(".swift"):
            comment = re.match(r"\s*/// ?(.*)$", text)
            if not comment:
                lines = None
                continue
            text = comment.group(1)
        if lines is None:
            if text.strip() == "```swift":
                lines, first = [], number + 1
        elif text.strip() == "```":
            yield first, lines
            lines = None
        else:
            lines.append(text)


def source(page, first, lines):
    """A file: imports, then types and extensions, then the rest in a function. Messages name the page and its line."""
    imports, types, body = [], [], []
    target, depth, previous = body, 0, None
    for number, line in enumerate(lines, first):
        if line.startswith("import "):
            imports.append(line)
            continue
        code = re.sub(r"\{ … \}", "{ }", line)
        if code.strip() == "…":
            code = ""
        if depth == 0 and declaration.match(code):
            target = types
            # Pages may declare the same names.
            if not re.match(r"extension [\w.]+ *:", code):
                code = "private " + code
        # A directive cannot stand inside an expression.
        if previous is not target:
            target.append(f'#sourceLocation(file: "{page}", line: {number})')
        target.append(code)
        previous = target
        depth += sum(code.count(bracket) for bracket in "{([") - sum(code.count(bracket) for bracket in "})]")
        if depth == 0:
            target = body
    imports = (imports or [f"import {library}" for library in libraries]) + ["import SnippetContext"]
    if any("#expect" in line for line in lines):
        imports.append("import Testing")
    function = [f'#sourceLocation(file: "{page}", line: {first})', "private func snippet() async throws {", *body, "}"]
    return "\n".join(imports + types + function) + "\n"


without = [page for page in pages if ".docc/" in page and "```" not in open(page, encoding="utf-8").read()]
if without:
    sys.exit(f"every page of a catalog must have an example (found none in {', '.join(without)})")

count = 0
for page in pages:
    if page.startswith(tuple(f"Sources/{room}/" for room in ("Trackers/AVPlayer", "Trackers/IMA", "Trackers/SwiftUI", "Trackers/ServiceLifecycle", "Support/Terminal", "Tools/Replay", "Tools/Report"))):
        continue
    for first, lines in blocks(page):
        if lines and lines[0].startswith(".package("):
            continue
        # The classes of Apple platforms; Examples/SwiftUIPlayer is compiled against declarations of them.
        if any("AVPlayerMonitor" in line for line in lines):
            continue
        count += 1
        name = re.sub(r"\W", "_", page) + f"_{first}.swift"
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(source(page, first, lines))
print(f"{count} snippets")
PYTHON

compiler=$(dirname "$(readlink -f "$(command -v "$swift")")")/swiftc
host=$(dirname "$compiler")/../lib/swift
. scripts/module-flags.sh
flags=$(flags "$binaries")
# shellcheck disable=SC2086
compile() {
    "$compiler" -swift-version 6 -suppress-warnings -enable-upcoming-feature MemberImportVisibility \
        -enable-upcoming-feature ExistentialAny $flags "$@"
}

# A separate module, so that a snippet may declare what the context declares as well.
compile -emit-module -parse-as-library -module-name SnippetContext -emit-module-path "$folder/SnippetContext.swiftmodule" \
    scripts/snippet-context.swift
compile -typecheck -parse-as-library -module-name Snippets -I "$folder" -I "$host/linux/testing" \
    -plugin-path "$host/host/plugins/testing" "$folder"/*.swift
