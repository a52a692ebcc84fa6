#!/usr/bin/env python3
"""Prints what a reader of a long test log looks for: the tests that failed, those that were running, the slowest, and the crash.

    scripts/summarize_tests.py unfinished EVENTS      the tests that have not ended
    scripts/summarize_tests.py hung EVENTS            a pattern for `--filter` that chooses them; exits with 1 if a test failed before
    scripts/summarize_tests.py failed EVENTS          such a pattern for the failed tests; exits with 1 after a crash, or if they are many
    scripts/summarize_tests.py failures EVENTS [LOG]  the failed tests; after a crash, also the running tests and the crashed thread
    scripts/summarize_tests.py slowest EVENTS [COUNT] the suites and tests that took longest, and when they began, in seconds

EVENTS is the event stream of `swift test --event-stream-output-path`, LOG its output.
"""
import json
import re
import sys

# The frames that are printed of each thread, and the lines of all threads.
FRAMES = 60
LONGEST_CRASH = 150
# More failed tests than these are no accident.
MOST_AGAIN = 3


class Events:
    """The outcome of each test, read from an event stream whose last line can be cut."""

    def __init__(self, path):
        self.names, self.running, self.failures, self.times = {}, {}, {}, {}
        for line in open(path, encoding="utf-8", errors="replace"):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            self.read(record.get("kind"), record.get("payload", {}))

    def read(self, kind, payload):
        if kind == "test":
            self.names[payload.get("id")] = payload.get("displayName") or payload.get("name")
            return
        event, test = payload.get("kind"), payload.get("testID")
        now = payload.get("instant", {}).get("absolute", 0)
        if event == "testStarted":
            self.running[test] = now
        elif event in ("testEnded", "testSkipped"):
            self.times[test] = (self.running.pop(test, now), now)
        elif event == "issueRecorded" and not payload.get("issue", {}).get("isKnown"):
            text = " ".join(message.get("text", "") for message in payload.get("messages", []))
            self.failures.setdefault(test, []).append(text)

    def title(self, test):
        return f"{self.names.get(test, test)}  ({test})"


def print_unfinished(events):
    for test in events.running:
        print(f"  {events.title(test)}")


def print_filter(tests, others):
    """With OTHERS, tests of the other kind, running the TESTS once more would say nothing."""
    if not tests or others or any(not test or ".swift:" not in test for test in tests):
        sys.exit("no test runs again by itself")
    print("|".join("^" + re.escape(test) + "$" for test in tests))


def crash(path):
    """The lines of the crash: the message before it and the threads, the crashed one first."""
    lines = open(path, encoding="utf-8", errors="replace").read().split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("*** ") or "Fatal error:" in line]
    if not starts:
        return []
    first = starts[0]
    threads, current = [], None
    for line in lines[first:]:
        if line.startswith("Thread "):
            current = [line]
            threads.append(current)
        elif line.startswith("Registers:") or line.startswith("Images "):
            break
        elif current is not None and line.strip():
            current.append(line)
    threads.sort(key=lambda thread: "crashed" not in thread[0])
    # The last words of the process, without Swift Testing's lines.
    before = [line for line in lines[max(0, first - 200):first + 4] if line.strip() and line[0] not in "◇✔✘↳"][-12:]
    frames = [line for thread in threads for line in thread[:FRAMES]]
    return before + frames[:LONGEST_CRASH]


def print_slowest(events, count):
    """A test's identifier has its suite's as a beginning; that of a suite names no file."""
    first = min((begin for begin, _ in events.times.values()), default=0)
    ordered = sorted(events.times.items(), key=lambda item: item[1][0] - item[1][1])
    for title, isSuite in (("suites", True), ("tests", False)):
        print(f"seconds  begun  {title}")
        chosen = [item for item in ordered if item[0] and (".swift:" not in item[0]) == isSuite]
        for test, (begin, end) in chosen[:count]:
            print(f"{end - begin:7.1f} {begin - first:6.1f}  {events.title(test)}")


def print_failures(events, log):
    if events.failures:
        print(f"{len(events.failures)} failed:")
    for test, texts in events.failures.items():
        print(f"  {events.title(test)}")
        for text in texts[:5]:
            print(f"    {text[:500]}")
    lines = crash(log) if log else []
    if lines:
        print("The test process crashed. These tests were running:")
        print_unfinished(events)
        print("\n".join(line[:300] for line in lines))


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in ("unfinished", "hung", "failed", "failures", "slowest"):
        sys.exit(__doc__)
    events = Events(arguments[1])
    if arguments[0] == "unfinished":
        print_unfinished(events)
    elif arguments[0] == "hung":
        print_filter([test for test in events.running if test and ".swift:" in test], events.failures)
    elif arguments[0] == "failed":
        print_filter(list(events.failures), list(events.running) or list(events.failures)[MOST_AGAIN:])
    elif arguments[0] == "slowest":
        print_slowest(events, int(arguments[2]) if len(arguments) > 2 else 30)
    else:
        print_failures(events, arguments[2] if len(arguments) > 2 else None)


if __name__ == "__main__":
    main(sys.argv[1:])
