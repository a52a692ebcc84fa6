#!/bin/sh
# Builds the examples in release, with the libraries that are built already, runs their tests, and runs each example; the video player
# also with its window, on a virtual display.
set -eu

cd "$(dirname "$0")/.."
# The player prints to the terminal where there is no display.
unset DISPLAY WAYLAND_DISPLAY
swift=${SWIFT:-swift}
"$swift" build -c release --build-tests --package-path Examples --scratch-path .build
.build/release/ExamplesPackageTests.xctest --testing-library swift-testing
# All executables of the package, without the server, which does not end, and the command line, which needs arguments.
examples=$("$swift" package --package-path Examples --scratch-path .build/graph dump-package | python3 -c '
import json, sys
for target in json.load(sys.stdin)["targets"]:
    if target["type"] == "executable" and target["name"] not in ("CustomCommandLine", "ServerExample"):
        print(target["name"])
')
[ -n "$examples" ]
for example in $examples; do
    echo "== $example"
    ".build/release/$example"
done
echo "== EmbeddedPlayer with a window"
scripts/test-embedded-player.py .build/release/EmbeddedPlayer
echo "== CustomCommandLine"
.build/release/CustomCommandLine replay --backend names:sample Tests/Tools/PlayerMonitor/Golden/three-renditions.ndjson
