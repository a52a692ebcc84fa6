#!/bin/sh
# Builds the examples in release, with the libraries that are built already, runs their tests, and runs each example.
set -eu

cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
"$swift" build -c release --build-tests --package-path Examples --scratch-path .build
.build/release/ExamplesPackageTests.xctest --testing-library swift-testing
for example in CustomBackend CustomHub CustomMetricalc CustomTracker EmbeddedPlayer ClickstreamExample SiftExample SeerExample \
    XAPIExample InfluxExample GraphiteExample NewRelicExample OTLPExample CMCDExample KafkaExample NATSExample; do
    echo "== $example"
    ".build/release/$example"
done
