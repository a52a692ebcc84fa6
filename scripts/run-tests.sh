#!/bin/sh
# Runs the built tests with the given options of `swift test` (--filter, --skip, --no-parallel); says failed tests and the crashed thread
# once more at the end. The script starts the test process itself, because `swift test` holds a lock that keeps other builds waiting.
# When the tests take longer than TEST_MINUTES (30), the script names those that have not ended, prints the stacks of the test process
# where gdb is installed, ends it and fails. Without this limit, a test that hangs leaves nothing but silence.
# PROGRAMS is the folder of the command lines that tests start; by default those of the build with the tests.
set -eu

minutes=${TEST_MINUTES:-30}
for program in player-monitor test-origin; do
    if [ -n "${PROGRAMS:-}" ] && [ ! -x "$PROGRAMS/$program" ]; then
        echo "PROGRAMS is '$PROGRAMS', where there is no $program; build it first" >&2
        exit 1
    fi
done
here=$(dirname "$0")
work=$(mktemp -d)
events=$work/events log=$work/log
: >"$events"
trap 'rm -rf "$work"' EXIT

# The output is copied for the summary. The copy is not waited for: a process that a test left behind keeps it open.
mkfifo "$work/output"
tee "$log" <"$work/output" &
"${TESTS:-.build/debug/instrumentPackageTests.xctest}" --testing-library swift-testing --event-stream-output-path "$events" "$@" \
    >"$work/output" 2>&1 &
run=$!
trap 'kill "$run" 2>/dev/null; exit 130' INT TERM

# The processes below the one given, with it, children first.
family() {
    for child in $(cat "/proc/$1/task/"*/children 2>/dev/null || true); do family "$child"; done
    echo "$1"
}

limit=$((minutes * 60))
elapsed=0
while kill -0 "$run" 2>/dev/null && [ "$elapsed" -lt "$limit" ]; do
    sleep 1
    elapsed=$((elapsed + 1))
done
if [ "$elapsed" -ge "$limit" ]; then
    echo "error: the tests have not ended within $minutes minutes. These are still running:" >&2
    "$here/summarize_tests.py" unfinished "$events" >&2 || true
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
wait "$run" && exit 0
# The end of a long log is what people see first.
"$here/summarize_tests.py" failures "$events" "$log" >&2 || true
exit 1
