#!/bin/sh
# Builds the documentation of each library with the toolchain's DocC; any warning is an error.
# Usage: scripts/check-documentation.sh [OUTPUT-DIRECTORY]   (by default .docs)
set -eu

output=${1:-.docs}
swift=${SWIFT:-swift}
docc=$(dirname "$(command -v "$swift")")/docc
[ -x "$docc" ] || docc=$(dirname "$(readlink -f "$(command -v "$swift")")")/docc

"$swift" package dump-symbol-graph --minimum-access-level public --skip-synthesized-members >/dev/null
graphs=$(dirname "$("$swift" build --show-bin-path)")/symbolgraph
rm -rf "$output"
mkdir -p "$output"

document() { # MODULE FOLDER
    selected=$(mktemp -d)
    cp "$graphs/$1.symbols.json" "$selected"
    # Extensions of the standard library's types.
    cp "$graphs/$1@"*.symbols.json "$selected" 2>/dev/null || true
    echo "documentation of $1"
    "$docc" convert "Sources/$2/$1.docc" --additional-symbol-graph-dir "$selected" --warnings-as-errors \
        --fallback-display-name "$1" --fallback-bundle-identifier "instrument.$1" --output-path "$output/$1.doccarchive"
    rm -rf "$selected"
}

document Instrument Instrument
document InstrumentTrackers Trackers
document InstrumentSensors Sensors
document InstrumentProbe Probe
document InstrumentManifests Manifests
document InstrumentPictureChecks PictureChecks
document InstrumentRules Rules
document InstrumentAds Ads
document InstrumentBeacons Backends/Beacons
document InstrumentMPV MPV
document InstrumentJSON JSON
document InstrumentBackends Backends
document InstrumentXAPI Backends/XAPI
document InstrumentSeer Backends/Seer
document InstrumentClickstream Backends/Clickstream
document InstrumentSift Backends/Sift
document InstrumentInflux Backends/Influx
document InstrumentGraphite Backends/Graphite
document InstrumentKafka Backends/Kafka
document InstrumentNATS Backends/NATS
document InstrumentNewRelic Backends/NewRelic
document InstrumentCMCD CMCD
document InstrumentCMCDBackend Backends/CMCD
document InstrumentOTLP Backends/OTLP
document InstrumentHTTP HTTP
document InstrumentTransport Transport
document InstrumentTestKit TestKit
document InstrumentDurableQueue DurableQueue
document InstrumentObservability Observability
document InstrumentQuality Quality
document InstrumentSampling Sampling
document InstrumentOrigin Origin

# Empty in a build of this package, where its trait is off: its symbols are those of the example's build.
example=Examples/ServiceLifecycle
"$swift" build --package-path "$example" >/dev/null
built=$("$swift" build --package-path "$example" --show-bin-path)
"$(dirname "$docc")/swift-symbolgraph-extract" -module-name InstrumentServiceLifecycle -I "$built/Modules" \
    -Xcc -fmodule-map-file="$built/CSignalShim.build/module.modulemap" -I Sources/CSignalShim/include \
    -target "$("$swift" -print-target-info | sed -n 's/^ *"unversionedTriple": "\(.*\)",*$/\1/p')" \
    -minimum-access-level public -skip-synthesized-members -output-dir "$graphs"
document InstrumentServiceLifecycle ServiceLifecycle

# The bindings for Apple platforms exist in the build against declarations alone.
stubs=Tests/AppleStubs
scripts/link-apple-sources.sh
"$swift" build --package-path "$stubs" >/dev/null
built=$("$swift" build --package-path "$stubs" --show-bin-path)
for module in AVPlayer IMA SwiftUI; do
    "$(dirname "$docc")/swift-symbolgraph-extract" -module-name "Instrument$module" -I "$built/Modules" \
        -target "$("$swift" -print-target-info | sed -n 's/^ *"unversionedTriple": "\(.*\)",*$/\1/p')" \
        -minimum-access-level public -skip-synthesized-members -output-dir "$graphs"
done
document InstrumentAVPlayer AVPlayer
document InstrumentIMA IMA
document InstrumentSwiftUI SwiftUIAnalytics
