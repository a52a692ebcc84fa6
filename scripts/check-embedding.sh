#!/usr/bin/env bash
# Checks what an app resolves that embeds the library: nothing without traits, and with each trait the packages of that trait. Checks also
# that a product without its trait fails with one message. With --build it builds an app with two products and no trait, too.
#   usage: scripts/check-embedding.sh [--build]
set -euo pipefail
checkout=$(cd "$(dirname "$0")/.." && pwd)
swift=${SWIFT:-swift}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# Writes the package of an app with the given list of traits and the given products.
write_app() {
    local traits=$1 products="" product
    shift
    for product in "$@"; do products+=".product(name: \"$product\", package: \"instrument\"), "; done
    mkdir -p "$root/app/Sources/App"
    cat >"$root/app/Package.swift" <<END
// swift-tools-version: 6.1
import PackageDescription
let package = Package(
    name: "App",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "instrument", path: "$checkout", traits: [$traits])],
    targets: [.executableTarget(name: "App", dependencies: [$products])]
)
END
    {
        for product in "$@"; do echo "import $product"; done
        echo 'let instrument = Instrument(hub: CoreHub(), backends: [ConsoleBackend.standardOutput()])'
        echo 'await instrument.shutdown(timeout: .seconds(5))'
    } >"$root/app/Sources/App/main.swift"
}

fail() {
    echo "error: $1" >&2
    exit 1
}

# The identities of the packages that the app resolves, beside the library's, in order.
resolved() {
    "$swift" package --package-path "$root/app" show-dependencies --format json 2>"$root/log" >"$root/graph" || {
        cat "$root/log" >&2
        fail "the app cannot be resolved"
    }
    python3 - "$root/graph" <<'END'
import json, sys

def packages(node):
    for dependency in node["dependencies"]:
        yield dependency["identity"]
        yield from packages(dependency)

library, = json.load(open(sys.argv[1]))["dependencies"]
print(" ".join(sorted(set(packages(library)))))
END
}

check() {
    local traits=$1 expected=$2 found
    write_app "$traits" Instrument InstrumentBackends
    found=$(resolved)
    [ "$found" = "$expected" ] || fail "an app with traits: [$traits] resolves '$found', expected '$expected'"
}

nio="swift-atomics swift-collections swift-nio swift-system"
check '' ''
check '"DurableQueue"' 'grdb.swift'
check '"Observability"' 'swift-log swift-metrics'
check '"Origin"' "$nio"

write_app '' Instrument InstrumentBackends
for trait in CommandLine DurableQueue Observability Origin; do
    if "$swift" build --package-path "$root/app" --target "Instrument${trait}Trait" >"$root/log" 2>&1; then
        fail "the target of the trait $trait builds without the trait"
    fi
    message="a trait: write traits: \[\"$trait\"\]"
    found=$(grep -c "error: .*$message" "$root/log" || true)
    others=$(grep 'error: ' "$root/log" | grep -v "$message" | grep -vc 'emit-module command failed' || true)
    [ "$found" -ge 1 ] && [ "$others" -eq 0 ] || {
        cat "$root/log" >&2
        fail "a product without the trait $trait must fail with one message that names the trait"
    }
done

if [ "${1:-}" = --build ]; then
    "$swift" build --package-path "$root/app" >"$root/log" 2>&1 || {
        tail -40 "$root/log" >&2
        fail "an app without traits does not build"
    }
fi
