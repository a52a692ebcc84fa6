#!/bin/sh
# Measures the tracker of Chromium against an independent eye: plays the test origin's media over schedules in a real Chromium with hls.js,
# Video.js and the browser's own player, reads the number of each displayed picture, and prints the errors of starts, stalls, seeks and pauses
# as a table. About eight minutes; on an idle machine. Exits with 1 if an error is larger than 50 ms at a start or 100 ms elsewhere.
# PLAYER_LIBRARIES lists further libraries: files of dash.js and Shaka Player, which no registry of this project's packages has.
#   usage: scripts/compare-chrome.sh [SCHEDULE...]
set -eu
cd "$(dirname "$0")/.."
scripts/install-dependencies.sh tests
scripts/install-hls-js.sh || true
scripts/install-video-js.sh || true
"${SWIFT:-swift}" build --product ChromeTruth >&2
folder="${TMPDIR:-/tmp}/instrument-chrome-media-$(id -u)"
for library in "${HLS_JS_DIRECTORY:-.build/hls-js}/hls.js" "${VIDEO_JS_DIRECTORY:-.build/video-js}/video.js" ${PLAYER_LIBRARIES:-}; do
    [ -f "$library" ] && set -- --library "$library" "$@"
done
exec .build/debug/ChromeTruth "$folder" "$@"
