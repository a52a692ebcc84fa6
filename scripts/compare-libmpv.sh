#!/bin/sh
# Measures the tracker of libmpv against an independent eye: plays the test origin's media over schedules with a real libmpv, reads the number
# of each displayed picture, and prints the errors of starts, stalls, seeks and pauses as a table. About four minutes; on an idle machine.
# Exits with 1 if an error is larger than the limit of its schedule.
#   usage: scripts/compare-libmpv.sh [SCHEDULE...]
set -eu
cd "$(dirname "$0")/.."
scripts/install-dependencies.sh tests
"${SWIFT:-swift}" build --product LibMPVTruth >&2
exec .build/debug/LibMPVTruth "${TMPDIR:-/tmp}/instrument-libmpv-media-$(id -u)" "$@"
