#!/usr/bin/env python3
"""Checks of the sources for Apple platforms what no compiler on Linux checks.

Availability: a name that the declarations (Tests/AppleStubs/Stubs) mark as unavailable on a platform is used only where the conditions of
the source exclude this platform; a name of an SDK after the package's minimum is used only behind `#available`, and behind `#if compiler`
with the version of the compiler that has this SDK.

References: every public declaration there names the header and the line, the interface of Swift, or the page of the documentation where it
was read (Tests/AppleStubs/README.md).

The Xcode project of Examples/SwiftUIPlayer: it parses, each object that it refers to exists, it compiles the folder of the package's target,
and it links the products and has the platforms of the package.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
STUBS = ROOT / "Tests/AppleStubs/Stubs"
EXAMPLE = ROOT / "Examples/SwiftUIPlayer"
# The minimum of Package.swift, and the compiler of the first Xcode that has the SDK.
MINIMUM = {"iOS": 18, "macOS": 15, "tvOS": 18, "visionOS": 2, "watchOS": 11}
COMPILERS = {26: "6.2"}

NAME = re.compile(r"\b(?:class (?:var|func)|static let|var|let|func|struct|class|enum|case)\s+(\w+)")
UNAVAILABLE = re.compile(r"@available\((\w+), unavailable\)")
DECLARATION = re.compile(r"(?:public|open)\b(?! (?:import|extension)).*\b(?:class|struct|enum|protocol|func|var|let|init|subscript|typealias)\b")
REQUIREMENT = re.compile(r"(?:@\w+ )*(?:static )?(?:func|var|init|associatedtype)\b")
REFERENCE = re.compile(r"//.*(?:\b[\w/+]+\.h:\d|\w\.swiftinterface\b|\w\.apinotes\b|\bdocumentation/\w|\bFor tests\b)")
INTRODUCED = re.compile(r"\b(iOS|macOS|tvOS|visionOS|watchOS) (\d+)")


def restrictions():
    """Returns the platforms without each restricted name, and the SDK that introduced each name after the minimum."""
    missing, later = {}, {}
    for path in sorted(STUBS.rglob("*.swift")):
        platforms, version = set(), 0
        for line in path.read_text().splitlines():
            text = line.strip()
            if text.startswith("@available("):
                platforms |= set(UNAVAILABLE.findall(text))
                for platform, number in INTRODUCED.findall(text):
                    if int(number) > MINIMUM[platform]:
                        version = max(version, int(number))
                continue
            if not text or text.startswith("//"):
                continue
            found = NAME.search(text)
            if found and platforms:
                missing[found.group(1)] = platforms
            if found and version:
                later[found.group(1)] = version
            platforms, version = set(), 0
    return missing, later


def excluded(condition):
    """Returns the platforms that a condition of `#if` excludes, of those written as `!os(NAME)` and joined by `&&`."""
    if "||" in condition:
        return set()
    if re.search(r"(?<!!)\bos\((\w+)\)", condition):
        return set(MINIMUM) - set(re.findall(r"(?<!!)\bos\((\w+)\)", condition))
    platforms = set(re.findall(r"!os\((\w+)\)", condition))
    if "canImport(UIKit)" in condition:
        platforms.add("macOS")
    return platforms


def check_availability(faults):
    missing, later = restrictions()
    names = re.compile(r"(?<=[.\\ (])(" + "|".join(sorted(set(missing) | set(later))) + r")\b")
    sources = [path for room in ("Sources", "Examples/SwiftUIPlayer/Sources") for path in (ROOT / room).rglob("*.swift")]
    for path in sorted(sources):
        text = path.read_text()
        if not re.search(r"\bimport (AVFoundation|AVKit|UIKit|AppKit|Network|CoreMotion|CoreLocation)\b", text):
            continue
        conditions = []
        for number, line in enumerate(text.splitlines(), 1):
            directive = re.match(r"\s*#(if|elseif|else|endif)\b(.*)", line)
            if directive:
                kind, condition = directive.groups()
                if kind in ("else", "elseif", "endif"):
                    conditions.pop()
                if kind != "endif":
                    conditions.append(condition if kind != "else" else "")
                continue
            code = line.split("//")[0]
            for name in names.findall(code):
                where = f"{path.relative_to(ROOT)}:{number}: `{name}`"
                absent = missing.get(name, set()) - set().union(*map(excluded, conditions))
                if absent:
                    faults.append(f"{where} is not available on {', '.join(sorted(absent))}; exclude it with `#if !os(…)`")
                if name in later:
                    compiler = COMPILERS[later[name]]
                    if f"compiler(>={compiler})" not in " ".join(conditions):
                        faults.append(f"{where} needs the SDK {later[name]}; write it behind `#if compiler(>={compiler})`")
                    if not re.search(rf"(#|@)available\(iOS {later[name]}\b", text):
                        faults.append(f"{where} is of iOS {later[name]}; use it behind `#available`")
    return missing, later


def check_references(faults):
    for path in sorted(STUBS.rglob("*.swift")):
        # The scopes around the line: whether each is a public protocol, and whether all of it is for tests.
        scopes, above = [(False, False)], ""
        for number, line in enumerate(path.read_text().splitlines(), 1):
            text = line.strip()
            if text.startswith("//"):
                above += text + " "
                continue
            code = text.split("//")[0]
            is_declared = DECLARATION.search(code) or scopes[-1][0] and REQUIREMENT.match(code)
            if is_declared and not scopes[-1][1] and not REFERENCE.search(above + text):
                where = f"{path.relative_to(ROOT)}:{number}"
                faults.append(f"{where}: name the header and the line of `{code.strip(' {')}`, or the page of the documentation")
            inner = ("public protocol" in code, scopes[-1][1] or "For tests" in above + text)
            balance = code.count("{") - code.count("}")
            scopes = scopes + [inner] * balance if balance > 0 else scopes[: len(scopes) + balance]
            if not text.startswith("@"):
                above = ""


def parse(text):
    """Reads a property list in the older format, that of Xcode's projects."""
    tokens = re.findall(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|[A-Za-z0-9_$./\-:]+|[{}()=;,]', text, re.S)
    tokens = [token for token in tokens if not token.startswith(("/*", "//"))]
    position = 0

    def take(expected=None):
        nonlocal position
        if position == len(tokens) or expected not in (None, tokens[position]):
            found = tokens[position] if position < len(tokens) else "the end"
            raise ValueError(f"expected {expected or 'a value'}, found {found}")
        position += 1
        return tokens[position - 1]

    def value():
        token = take()
        if token == "{":
            result = {}
            while tokens[position] != "}":
                key = take().strip('"')
                take("=")
                result[key] = value()
                take(";")
            take("}")
            return result
        if token == "(":
            result = []
            while tokens[position] != ")":
                result.append(value())
                if tokens[position] != ")":
                    take(",")
            take(")")
            return result
        return token.strip('"')

    result = value()
    if position != len(tokens):
        raise ValueError(f"found {tokens[position]} after the end")
    return result


def check_project(faults):
    path = EXAMPLE / "SwiftUIPlayer.xcodeproj/project.pbxproj"
    name = path.relative_to(ROOT)
    try:
        project = parse(path.read_text())
    except (IndexError, ValueError) as error:
        faults.append(f"{name}: not a project: {error}")
        return
    objects = project["objects"]

    def references(value):
        if isinstance(value, dict):
            for item in value.values():
                yield from references(item)
        elif isinstance(value, list):
            for item in value:
                yield from references(item)
        elif re.fullmatch(r"[0-9A-F]{24}", value):
            yield value

    used = set(references({"root": project["rootObject"], "objects": list(objects.values())}))
    for reference in sorted(used - set(objects)):
        faults.append(f"{name}: refers to {reference}, which no object has")
    for unused in sorted(set(objects) - used):
        faults.append(f"{name}: nothing refers to {unused}; remove it")

    def of(isa):
        return [value for value in objects.values() if value["isa"] == isa]

    manifest = (EXAMPLE / "Package.swift").read_text()
    expected = set(re.findall(r'\.product\(name: "(\w+)"', manifest))
    linked = {product["productName"] for product in of("XCSwiftPackageProductDependency")}
    if linked != expected:
        faults.append(f"{name}: links {sorted(linked)}, expected {sorted(expected)}, as Package.swift has them")
    for group in of("PBXFileSystemSynchronizedRootGroup"):
        if not (EXAMPLE / group["path"]).is_dir():
            faults.append(f"{name}: the folder {group['path']} does not exist")
    for package in of("XCLocalSwiftPackageReference"):
        if (EXAMPLE / package["relativePath"]).resolve() != ROOT:
            faults.append(f"{name}: {package['relativePath']} is not the folder of the package")
    platforms = dict(re.findall(r"\.(\w+)\(\.v(\d+)\)", manifest))
    keys = {"macOS": "MACOSX", "iOS": "IPHONEOS", "tvOS": "TVOS", "visionOS": "XROS"}
    settings = [configuration["buildSettings"] for configuration in of("XCBuildConfiguration")]
    for platform, key in keys.items():
        found = {value[f"{key}_DEPLOYMENT_TARGET"] for value in settings if f"{key}_DEPLOYMENT_TARGET" in value}
        if found != {f"{platforms.get(platform)}.0"}:
            faults.append(f"{name}: the minimum of {platform} is {sorted(found)}, expected {platforms.get(platform)}.0")


def main():
    faults = []
    missing, later = check_availability(faults)
    # Without restrictions the check of availability would pass whatever the sources are.
    for name in ("isExternalPlaybackActive", "rateDidChangeReasonKey"):
        if name not in missing:
            faults.append(f"Tests/AppleStubs: the availability of `{name}` is not declared")
    if "currentEventSkippedNotification" not in later:
        faults.append("Tests/AppleStubs: the availability of `currentEventSkippedNotification` is not declared")
    check_references(faults)
    check_project(faults)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
