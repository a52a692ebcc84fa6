#!/usr/bin/env python3
"""Writes the software bill of materials of linked programs: SPDX 2.3, JSON.

    packaging/sbom.py VERSION PROGRAM… >sbom.spdx.json

It lists the Swift packages that `swift package show-dependencies` names, the Swift library that is linked statically, and the packages of
dpkg whose libraries the programs load, each with its version and licence. All times are SOURCE_DATE_EPOCH, by default now.
"""
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SWIFT = os.environ.get("SWIFT", "swift")

# Names of licences in Debian's copyright files, as SPDX names them. Another name becomes a LicenseRef.
SPDX_NAMES = {
    "Expat": "MIT",
    "MIT": "MIT",
    "Apache-2.0": "Apache-2.0",
    "BSD-2-clause": "BSD-2-Clause",
    "BSD-3-clause": "BSD-3-Clause",
    "curl": "curl",
    "GPL-2+": "GPL-2.0-or-later",
    "GPL-3+": "GPL-3.0-or-later",
    "LGPL-2+": "LGPL-2.0-or-later",
    "LGPL-2.1": "LGPL-2.1-only",
    "LGPL-2.1+": "LGPL-2.1-or-later",
    "LGPL-2.1+ and Sundry": "LGPL-2.1-or-later",
    "Zlib": "Zlib",
    "zlib": "Zlib",
}
# Packages whose copyright file has no form that a program reads, and packages that their options put under another licence.
KNOWN = {
    "libc6": "LGPL-2.1-or-later",
    "libgcc-s1": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libstdc++6": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libsqlite3-0": "blessing",
    # Debian builds FFmpeg with --enable-gpl.
    "libavcodec": "GPL-2.0-or-later",
    "libavformat": "GPL-2.0-or-later",
    "libavutil": "GPL-2.0-or-later",
}


def fail(message):
    sys.exit(f"sbom: {message}")


def run(*command):
    try:
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    except FileNotFoundError:
        fail(f"{command[0]} is missing")
    except subprocess.CalledProcessError as error:
        fail(f"'{' '.join(command)}' failed:\n{error.stderr}")


def license_of_text(folder):
    """The licence of a Swift package, from its licence file."""
    for name in ("LICENSE.txt", "LICENSE", "LICENSE.md"):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            text = " ".join(file.read().split())
        if "Apache License Version 2.0" in text:
            return "Apache-2.0 WITH Swift-exception" if "Runtime Library Exception" in text else "Apache-2.0"
        if "Permission is hereby granted, free of charge" in text:
            return "MIT"
    fail(f"{folder} has no licence that this script knows")


def swift_packages():
    seen, queue = {}, [json.loads(run(SWIFT, "package", "show-dependencies", "--format", "json"))]
    while queue:
        package = queue.pop()
        for dependency in package["dependencies"]:
            seen[dependency["identity"]] = dependency
            queue.append(dependency)
    return [
        {"name": name, "version": item["version"], "license": license_of_text(item["path"]), "source": item["url"],
         "purl": f"pkg:swift/{re.sub(r'^https://|[.]git$', '', item['url'])}@{item['version']}", "link": "STATIC_LINK"}
        for name, item in sorted(seen.items())
    ]


def swift_library():
    text = run(SWIFT, "--version")
    match = re.search(r"Swift version (\S+)", text)
    if not match:
        fail(f"'{SWIFT} --version' names no version (found '{text.strip()}')")
    return [
        {"name": "swift-runtime", "version": match.group(1), "license": "Apache-2.0 WITH Swift-exception", "source": None,
         "purl": None, "link": "STATIC_LINK"},
        {"name": "swift-foundation-icu", "version": match.group(1), "license": "Unicode-3.0", "source": None, "purl": None,
         "link": "STATIC_LINK"},
    ]


def debian_license(package):
    for name in (package, re.sub(r"\d+$", "", package)):
        if name in KNOWN:
            return KNOWN[name]
    with open(f"/usr/share/doc/{package}/copyright", encoding="utf-8", errors="replace") as file:
        for stanza in file.read().split("\n\n"):
            if re.search(r"^Files:\s*\*\s*$", stanza, re.M):
                name = re.search(r"^License:\s*(.+)$", stanza, re.M)
                if name:
                    return SPDX_NAMES.get(name.group(1).strip()) or "LicenseRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", name.group(1).strip())
    return "NOASSERTION"


def debian_packages(programs):
    """The packages of the libraries that the programs name, and of no library that only these libraries need."""
    names = set()
    for program in programs:
        needed = set(re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", program)))
        for line in run("ldd", program).splitlines():
            match = re.match(r"\s*(\S+)(?: => (\S+))? \(", line)
            if match and os.path.basename(match.group(1)) in needed:
                names.add(os.path.realpath(match.group(2) or match.group(1)))
    # On a system whose /lib is a link, dpkg may know a file by either name.
    owners = {}
    for path in sorted(names):
        for candidate in (path, path.removeprefix("/usr")):
            result = subprocess.run(["dpkg", "-S", candidate], check=False, capture_output=True, text=True)
            if result.returncode == 0:
                owners[path] = result.stdout.split(":")[0]
                break
        else:
            fail(f"no package of dpkg has {path}")
    found = []
    for package in sorted(set(owners.values())):
        version = run("dpkg-query", "-W", "-f", "${Version}\n", package).split("\n")[0]
        found.append(
            {"name": package, "version": version, "license": debian_license(package), "source": None,
             "purl": f"pkg:deb/debian/{package}@{version.replace('+', '%2B')}", "link": "DYNAMIC_LINK"}
        )
    return found


def main():
    if len(sys.argv) < 3:
        fail("usage: packaging/sbom.py VERSION PROGRAM…")
    version, programs = sys.argv[1], sys.argv[2:]
    moment = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    parts = swift_packages() + swift_library() + debian_packages(programs)
    ids = {part["name"]: "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", part["name"]) for part in parts}
    packages = [
        {"SPDXID": "SPDXRef-player-monitor", "name": "player-monitor", "versionInfo": version, "downloadLocation": "NOASSERTION",
         "filesAnalyzed": False, "licenseDeclared": "MIT", "licenseConcluded": "GPL-2.0-or-later", "copyrightText": "2026 the Instrument authors",
         "licenseComments": "The sources are under MIT; the binary links Debian's FFmpeg, which is built with --enable-gpl.",
         "primaryPackagePurpose": "APPLICATION"}
    ]
    relationships = [
        {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-player-monitor"}
    ]
    for part in parts:
        package = {
            "SPDXID": ids[part["name"]], "name": part["name"], "versionInfo": part["version"],
            "downloadLocation": f"git+{part['source']}@{part['version']}" if part["source"] else "NOASSERTION", "filesAnalyzed": False,
            "licenseDeclared": part["license"], "licenseConcluded": part["license"], "copyrightText": "NOASSERTION",
        }
        if part["purl"]:
            package["externalRefs"] = [
                {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": part["purl"]}
            ]
        packages.append(package)
        relationships.append(
            {"spdxElementId": "SPDXRef-player-monitor", "relationshipType": part["link"], "relatedSpdxElement": ids[part["name"]]}
        )
    references = sorted({p["license"] for p in parts if p["license"].startswith("LicenseRef-")})
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"player-monitor-{version}",
        "creationInfo": {
            "created": datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Organization: Instrument", "Tool: packaging/sbom.py"],
        },
        "packages": packages, "relationships": relationships,
    }
    if references:
        document["hasExtractedLicensingInfos"] = [
            {"licenseId": name, "name": name.removeprefix("LicenseRef-"), "extractedText": "See the package's copyright file in /usr/share/doc."}
            for name in references
        ]
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:32]
    document["documentNamespace"] = f"https://spdx.org/spdxdocs/player-monitor-{version}-{digest}"
    json.dump(document, sys.stdout, indent=1, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
