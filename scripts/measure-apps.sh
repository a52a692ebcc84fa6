#!/usr/bin/env bash
# Measures what it costs an app to embed the library: builds three small apps in release mode, each in an empty folder,
# and prints the CPU time and the size of each.
#   usage: scripts/measure-apps.sh [CHECKOUT]      CHECKOUT: another state of this repository, to compare
# CPU time covers the compilation of everything that the app needs, also of packages it depends on; fetching them is
# not included. The size is that of the program without symbols and debug information; Swift's libraries are linked
# dynamically.
set -euo pipefail
checkout=$(cd "${1:-$(dirname "$0")/..}" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# Writes the package of an app: its name, its source, and the products that it links.
write_app() {
    local name=$1 source=$2 dependencies="" product
    shift 2
    for product in "$@"; do dependencies+="            .product(name: \"$product\", package: \"instrument\"),"$'\n'; done
    mkdir -p "$root/$name/Sources/App"
    cat > "$root/$name/Package.swift" <<EOF
// swift-tools-version: 6.1
import PackageDescription
let package = Package(
    name: "$name",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "instrument", path: "$checkout")],
    targets: [.executableTarget(name: "App", dependencies: [
$dependencies    ])]
)
EOF
    printf '%s\n' "$source" > "$root/$name/Sources/App/main.swift"
}

chain=(Instrument InstrumentBackends)
# A state before hubs, metricalcs and player trackers came with `Instrument`.
if grep -q 'name: "InstrumentHubs"' "$checkout/Package.swift"; then
    chain+=(InstrumentHubs InstrumentMetricalcs InstrumentTrackers)
fi
imports=$(printf 'import %s\n' "${chain[@]}")
emit='final class Silent: Player {
    let name = "silent"
    var status: PlayerStatus { PlayerStatus() }
    func report(to observer: (@Sendable (PlayerSignal) -> Void)?) {}
}
let id = instrument.add(PlayerTracker(Silent()))
instrument.ready()
instrument.emit(.mediaRequest, from: id)
await instrument.shutdown(timeout: .seconds(5))'
arguments='hub: CoreHub(), metricalc: CoreMetricalc(), backends: [ConsoleBackend.standardOutput()]'
write_app core "$imports
let instrument = Instrument($arguments)
$emit" "${chain[@]}"
write_app core+durable "$imports
import InstrumentDurableQueue
let store = try DurableStore(directory: \"queue\")
let instrument = Instrument($arguments, store: store)
$emit" "${chain[@]}" InstrumentDurableQueue
write_app core+durable+probe "$imports
import InstrumentDurableQueue
import InstrumentProbe
let store = try DurableStore(directory: \"queue\")
let instrument = Instrument($arguments, store: store)
let probe = Probe(MediaSource(\"film.mkv\"))
instrument.add(PlayerTracker(probe))
$emit" "${chain[@]}" InstrumentDurableQueue InstrumentProbe

printf '%-20s %14s %14s %10s\n' app "CPU time, s" "elapsed, s" "size, kB"
for app in core core+durable core+durable+probe; do
    cd "$root/$app"
    swift package resolve > build.log 2>&1 || { cat build.log >&2; exit 1; }
    TIMEFORMAT='%U %S %R'
    times=$({ time swift build -c release --product App > build.log 2>&1; } 2>&1) || { tail -20 build.log >&2; exit 1; }
    strip -o program "$(swift build -c release --show-bin-path)/App"
    awk -v app="$app" -v size="$(stat -c %s program)" \
        '{ printf "%-20s %14.0f %14.0f %10.0f\n", app, $1 + $2, $3, size / 1000 }' <<< "$times"
done
