#!/bin/sh
# Runs the built tests with the given options of `swift test`. When they take longer than TEST_MINUTES (30), the script names the
# tests that have not ended, prints the stacks of the test process where gdb is installed, ends it and fails. Without this limit, a
# test that hangs leaves nothing but silence.
set -eu

swift=${SWIFT:-swift}
minutes=${TEST_MINUTES:-30}
events=$(mktemp)
trap 'rm -f "$events"' EXIT

"$swift" test --skip-build --event-stream-output-path "$events" "$@" &
run=$!
trap 'kill "$run" 2>/dev/null; exit 130' INT TERM

# The processes below the one given, with it, children first.
family() {
    for child in $(cat "/proc/$1/task/"*/children 2>/dev/null || true); do family "$child"; done
    echo "$1"
}

unfinished() {
    python3 - "$events" <<'PYTHON'
import json, sys
names, running = {}, {}
for line in open(sys.argv[1], encoding="utf-8", errors="replace"):
    try:
        record = json.loads(line)
    except ValueError:
        continue  # The last line can be cut.
    payload = record.get("payload", {})
    if record.get("kind") == "test":
        names[payload.get("id")] = payload.get("displayName") or payload.get("name")
        continue
    kind, test = payload.get("kind"), payload.get("testID")
    if kind == "testStarted":
        running[test] = True
    elif kind in ("testEnded", "testSkipped"):
        running.pop(test, None)
for test in running:
    print(f"  {names.get(test, test)}  ({test})")
PYTHON
}

limit=$((minutes * 60))
elapsed=0
while kill -0 "$run" 2>/dev/null && [ "$elapsed" -lt "$limit" ]; do
    sleep 1
    elapsed=$((elapsed + 1))
done
if [ "$elapsed" -ge "$limit" ]; then
    echo "error: the tests have not ended within $minutes minutes. These are still running:" >&2
    unfinished >&2 || true
    processes=$(family "$run")
    for process in $processes; do
        echo "process $process: $(tr '\0' ' ' <"/proc/$process/cmdline" 2>/dev/null)" >&2
        case $(readlink "/proc/$process/exe" 2>/dev/null) in
            *.xctest) command -v gdb >/dev/null && gdb --batch -p "$process" -ex 'thread apply all bt 25' >&2 2>/dev/null || true ;;
        esac
    done
    for process in $processes; do kill -KILL "$process" 2>/dev/null || true; done
    exit 1
fi
wait "$run"
