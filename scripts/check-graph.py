#!/usr/bin/env python3
"""Checks the arrows between targets: those that Package.swift declares, and those that the imports of the sources need.

    scripts/check-graph.py [--print]

- A file imports only modules of this package that its target declares: nothing comes by a re-export.
- A target declares no module of this package that none of its files imports; the vocabulary and what all tests share are exempt.
- A room depends only on the rooms that ALLOWED lists (ARCHITECTURE.md, "The dependency rule"); EXCEPTIONS has the arrows that do not fit, each
  with its reason. An exception that is no longer needed is an error.
- Each library of others has one owner.
- Targets without I/O depend on targets without I/O.

--print lists the arrows between rooms with the number of arrows between targets. Exits with 1 if an arrow is wrong.
"""
import argparse, collections, json, pathlib, re, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The rooms that each room may depend on, beside itself.
ALLOWED = {
    "Instrument": set(),
    "System": set(),
    "Support": {"Instrument", "System"},
    "Media": {"Instrument", "Support"},
    "Metricalcs": {"Instrument", "Support"},
    "Queue": {"Instrument", "Support", "System"},
    "Trackers": {"Instrument", "Support", "System", "Media"},
    "Backends": {"Instrument", "Support", "System", "Media"},
    "Monitor": {"Instrument", "Support", "System", "Media", "Metricalcs", "Queue", "Trackers", "Backends"},
    "Tools": {"Instrument", "Support", "System", "Media", "Metricalcs", "Queue", "Trackers", "Backends", "Monitor"},
    "Testing": {"Instrument", "Support", "System", "Media", "Trackers"},
    "Examples": {
        "Instrument", "Support", "System", "Media", "Metricalcs", "Queue", "Trackers", "Backends", "Monitor", "Tools", "Testing",
    },
}
EXCEPTIONS = {
    ("InstrumentSift", "InstrumentSensors"): "sends what the sensors' collectors report",
}
# Between the targets of these rooms, only the arrows of INSIDE are allowed: a backend knows no other, and so on.
SEPARATE = {"Backends", "Trackers"}
INSIDE = {
    ("InstrumentSeer", "InstrumentXAPI"), ("InstrumentKafka", "InstrumentBackends"), ("InstrumentNATS", "InstrumentBackends"),
    ("InstrumentMPV", "InstrumentTrackers"), ("InstrumentLibMPV", "InstrumentMPV"), ("InstrumentServiceLifecycle", "InstrumentTrackers"),
}
PURE = {
    "Instrument", "InstrumentText", "InstrumentJSON", "InstrumentXML", "InstrumentHTTP", "InstrumentManifests", "InstrumentRules",
    "InstrumentPageDesign", "InstrumentPictureChecks", "InstrumentAds", "InstrumentCMCD", "InstrumentQuality", "InstrumentReport", "InstrumentMonitor",
}
# A terminal's text and the words of a configuration are pure, and the targets of both are not.
PURE_EXCEPTIONS = {
    ("InstrumentPageDesign", "InstrumentTerminal"), ("InstrumentReport", "InstrumentTerminal"), ("InstrumentMonitor", "InstrumentTerminal"), ("InstrumentMonitor", "InstrumentWatch"),
}
OWNERS = {
    "CFFmpeg": {"InstrumentProbe", "CProbeShim"},
    "CCurl": {"InstrumentTransport", "CTransportShim"},
    "CZlib": {"InstrumentCompression"},
    "CKafka": {"InstrumentKafka"},
    "COpenSSL": {"InstrumentNATS", "InstrumentTLS"},
    "CVLC": {"InstrumentVLC", "CVLCShim"},
    "CMPV": {"InstrumentLibMPV"},
    "CGStreamer": {"InstrumentGStreamer", "CGStreamerShim"},
    "GRDB": {"InstrumentDurableQueue"},
    "Yams": {"InstrumentWatch"},
    "Logging": {"InstrumentObservability"},
    "CoreMetrics": {"InstrumentObservability"},
    "ServiceLifecycle": {"InstrumentServiceLifecycle"},
    "NIOCore": {"InstrumentOrigin", "InstrumentMonitorRuntime"},
    "NIOPosix": {"InstrumentOrigin", "InstrumentMonitorRuntime"},
    "NIOHTTP1": {"InstrumentMonitorRuntime"},
    "ArgumentParser": {"InstrumentCommandLine", "InstrumentCommands", "TestOrigin"},
}
SHARED_BY_TESTS = {"Instrument", "InstrumentTestKit", "CostMeasurement", "LoopbackServers", "TestTraits"}
KINDS = "class|enum|func|let|protocol|struct|typealias|var"
IMPORT = re.compile(rf"^[ \t]*(?:@\w+(?:\([^)]*\))?[ \t]+)*(?:\w+[ \t]+)?import[ \t]+(?:(?:{KINDS})[ \t]+)?(\w+)", re.M)

Target = collections.namedtuple("Target", "name kind path files depends products")


def read_targets():
    # In a separate folder, so that it waits for no build.
    text = subprocess.run(["swift", "package", "--scratch-path", ".build/graph", "dump-package"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    targets = {}
    for target in json.loads(text)["targets"]:
        depends = [(kind, value[0]) for dependency in target["dependencies"] for kind, value in dependency.items()]
        path = pathlib.Path(target["path"])
        excluded = [path / name for name in target["exclude"]]
        files = [
            file for part in target.get("sources") or [""] for file in sorted((ROOT / path / part).rglob("*"))
            if file.suffix in (".swift", ".c") and not any((ROOT / name) in (file, *file.parents) for name in excluded)
        ]
        targets[target["name"]] = Target(
            target["name"], target["type"], target["path"], files, {name for kind, name in depends if kind != "product"},
            {name for kind, name in depends if kind == "product"},
        )
    return targets


def room(target):
    parts = target.path.split("/")
    if target.name == "Instrument":
        return "Instrument"
    return parts[1] if parts[0] == "Sources" else parts[0]


def imports(target):
    """The modules that the files of a target import, each with the first file."""
    found = {}
    for file in target.files:
        for name in IMPORT.findall(file.read_text(encoding="utf-8")):
            found.setdefault(name, file.relative_to(ROOT))
    return found


def problems(targets):
    arrows = collections.Counter()
    needed = set()
    for target in targets.values():
        here = room(target)
        imported = imports(target) if target.kind != "system" and target.files and target.files[0].suffix == ".swift" else None
        if imported is not None:
            for name, file in imported.items():
                if name in targets and name != target.name and name not in target.depends:
                    yield f"{file}: imports {name}, which {target.name} does not declare in Package.swift"
            for name in sorted(target.depends - set(imported) - {"Instrument"}):
                is_shared = here == "Tests" and name in SHARED_BY_TESTS
                # A target of a trait has an error and no declaration; a process is started, not imported.
                if not is_shared and not name.endswith("Trait") and targets[name].kind not in ("executable", "system"):
                    yield f"Package.swift: {target.name} declares {name}, which none of its files imports"
        for library in sorted((target.products | target.depends) & set(OWNERS)):
            if here != "Tests" and target.name not in OWNERS[library]:
                yield f"Package.swift: {target.name} links {library}, which belongs to {', '.join(sorted(OWNERS[library]))}"
        if here == "Tests":
            continue
        for name in sorted(target.depends):
            there = room(targets[name])
            arrows[here, there] += here != there
            if (target.name, name) in EXCEPTIONS:
                needed.add((target.name, name))
            elif there != here and there not in ALLOWED[here]:
                yield f"Package.swift: {target.name} ({here}) depends on {name} ({there}), which the rule does not allow"
            elif there == here and here in SEPARATE and (target.name, name) not in INSIDE:
                yield f"Package.swift: {target.name} depends on {name}: the targets of {here} do not know each other"
            if target.name in PURE and name not in PURE and (target.name, name) not in PURE_EXCEPTIONS:
                yield f"Package.swift: {target.name} has no I/O and depends on {name}, which is not in the list of targets without I/O"
    for arrow in sorted(set(EXCEPTIONS) - needed):
        yield f"scripts/check-graph.py: the exception {arrow[0]} -> {arrow[1]} is not needed; remove it"
    print_arrows.arrows = arrows


def print_arrows():
    for (here, there), count in sorted(print_arrows.arrows.items()):
        if count:
            print(f"{here:<11} -> {there:<11} {count:3}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print", action="store_true", dest="prints")
    options = parser.parse_args()
    found = list(problems(read_targets()))
    if options.prints:
        print_arrows()
    for problem in found:
        print(problem, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
