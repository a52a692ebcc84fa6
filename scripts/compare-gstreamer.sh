#!/bin/sh
# Measures the tracker of GStreamer against an independent eye: plays the test origin's media over schedules with a real playbin, reads the
# number of each displayed picture, and prints the errors of starts, stalls, seeks and pauses as a table, then the cost of the tracker. About
# six minutes; on an idle machine. Exits with 1 if an error is larger than 100 ms.
#   usage: scripts/compare-gstreamer.sh [SCHEDULE...]
set -eu
cd "$(dirname "$0")/.."
scripts/install-dependencies.sh tests
"${SWIFT:-swift}" build --product GStreamerTruth >&2
.build/debug/GStreamerTruth "${TMPDIR:-/tmp}/instrument-gstreamer-media-$(id -u)" "$@"
"${SWIFT:-swift}" build -c release --product GStreamerTruth >&2
.build/release/GStreamerTruth --cost
