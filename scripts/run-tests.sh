#!/bin/bash
# Runs the built tests with the given options of `swift test` (--filter, --skip, --no-parallel); says failed tests and the crashed thread
# once more at the end. The script starts the test process itself, because `swift test` holds a lock that keeps other builds waiting.
# When the tests take longer than TEST_MINUTES (30), or no test begins or ends for STALL_MINUTES (6), they hang: the script names those that
# have not ended, prints the stacks of the test process where gdb is installed, keeps both in a temporary folder, and ends the process. The
# tests that had not ended then run once more, by themselves: whether a hang comes again is the first thing that one wants to know of it.
# So do up to three failed tests. The script says UNSTEADY when they pass by themselves, and fails nevertheless when STEADY is 1: a test that
# fails once in a hundred runs is a fault to look for, and no reason to refuse the change that happened to meet it.
# PROGRAMS is the folder of the command lines that tests start; by default those of the build with the tests.
set -u

minutes=${TEST_MINUTES:-30}
stall_minutes=${STALL_MINUTES:-6}
tests=${TESTS:-.build/debug/instrumentPackageTests.xctest}
for program in player-monitor test-origin; do
    if [ -n "${PROGRAMS:-}" ] && [ ! -x "$PROGRAMS/$program" ]; then
        echo "PROGRAMS is '$PROGRAMS', where there is no $program; build it first" >&2
        exit 1
    fi
done
here=$(dirname "$0")
work=$(mktemp -d "${TMPDIR:-/tmp}/instrument-test-run-XXXXXX")
run=
trap 'rm -rf "$work"' EXIT
trap 'kill $run 2>/dev/null; exit 130' INT TERM

# The processes below the one given, with it, children first.
family() {
    for child in $(cat "/proc/$1/task/"*/children 2>/dev/null); do family "$child"; done
    echo "$1"
}

report_hang() {
    echo "error: $1. These have not ended:"
    "$here/summarize_tests.py" unfinished "$events"
    for process in $(family "$run"); do
        echo "process $process: $(tr '\0' ' ' <"/proc/$process/cmdline")"
        case $(readlink "/proc/$process/exe") in
            *.xctest) command -v gdb >/dev/null && gdb --batch -p "$process" -ex 'thread apply all bt 25' ;;
        esac
    done
} 2>/dev/null

# Runs the tests that the options choose. Returns 0 if they passed, 1 if one failed, 2 if they hang.
run_tests() {
    events=$work/events-$1 log=$work/log-$1
    shift
    : >"$events"
    # The output is copied for the summary. The copy is not waited for: a process that a test left behind keeps it open.
    "$tests" --testing-library swift-testing --event-stream-output-path "$events" "$@" > >(tee "$log") 2>&1 &
    run=$!
    local elapsed=0 quiet=0 size=0 now reason=
    while kill -0 "$run" 2>/dev/null; do
        sleep 1
        now=$(stat -c %s "$events")
        elapsed=$((elapsed + 1)) quiet=$((quiet + 1))
        [ "$now" -eq "$size" ] || quiet=0
        size=$now
        [ "$elapsed" -lt $((minutes * 60)) ] || reason="the tests have not ended within $minutes minutes"
        [ "$quiet" -lt $((stall_minutes * 60)) ] || reason="no test has begun or ended for $stall_minutes minutes"
        [ -n "$reason" ] || continue
        report_hang "$reason" >"$work/hang"
        cat "$work/hang" >&2
        for process in $(family "$run"); do kill -KILL "$process" 2>/dev/null; done
        wait "$run" 2>/dev/null
        return 2
    done
    wait "$run" && return 0
    # The end of a long log is what people see first.
    "$here/summarize_tests.py" failures "$events" "$log" >&2
    return 1
}

run_tests first "$@"
first=$?
case $first in
    0) exit 0 ;;
    1) kind=failed what="tests that failed" mark=UNSTEADY ;;
    2) kind=hung what="tests that had not ended" mark=HANG ;;
esac
filter=$("$here/summarize_tests.py" "$kind" "$events") || exit 1

trap - EXIT
echo "$mark: the events and the output are in $work. The $what run once more:" >&2
case " $* " in *" --no-parallel "*) set -- --no-parallel ;; *) set -- ;; esac
run_tests second "$@" --filter "$filter"
second=$?
if [ "$second" -eq 0 ]; then
    echo "$mark: the $what passed when they ran by themselves; see $work" >&2
    "$here/summarize_tests.py" failures "$work/events-first" | sed 's/^/  /' >&2
    [ "$first" -eq 2 ] || [ "${STEADY:-0}" = 0 ] || exit 1
fi
exit $((second > 0))
