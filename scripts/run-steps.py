#!/usr/bin/env python3
"""Runs the steps of a check, several at once where they do not disturb each other, and prints a table of steps and seconds.

    scripts/run-steps.py STEPS [STEP...] [--list] [--logs FOLDER]

STEPS is a file of steps; with the names of steps, only these run, without the steps before them. A line of the file is

    NAME | KIND | AFTER | COMMAND

KIND is `build` (one at a time: two builds at once are slower than one after the other), `beside` (beside anything but an `alone` step) or
`alone` (beside nothing). AFTER names the steps that must have passed, separated by spaces. A command that exits with 3 was skipped, as it
says itself. A step that fails does not stop the others, except those that come after it, so that one run shows everything. The output of
a step is in FOLDER/NAME.log (.build/logs), and is printed when the step fails.

Exits with 1 if a step failed.
"""
import argparse, collections, os, pathlib, re, signal, subprocess, sys, time

Step = collections.namedtuple("Step", "name kind after command")
Result = collections.namedtuple("Result", "outcome began seconds processor note")
# What the reader of a passed step wants to know: the closing lines of test runs, and what was skipped.
CLOSING = re.compile(r"Test run with .* (passed|failed)|^\d+ passed, \d+ failed|^SKIPPED|^HANG|^UNSTEADY")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LONGEST_OUTPUT = 400


def read(path):
    steps = []
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|", 3)]
        if len(parts) < 4 or parts[1] not in ("build", "beside", "alone"):
            sys.exit(f"{path}:{number}: expected NAME | build, beside or alone | AFTER | COMMAND, found: {line.strip()}")
        step = Step(parts[0], parts[1], parts[2].split(), parts[3])
        unknown = set(step.after) - {other.name for other in steps}
        if unknown:
            sys.exit(f"{path}:{number}: '{step.name}' comes after '{', '.join(unknown)}', which is no step above it")
        steps.append(step)
    return steps


def may_start(step, running):
    if any(other.kind == "alone" for other in running):
        return False
    if step.kind == "alone":
        return not running
    return step.kind == "beside" or all(other.kind != "build" for other in running)


def note(log):
    """The closing lines of a passed step, in one line."""
    lines = [COLOUR.sub("", line).strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    return "; ".join(dict.fromkeys(re.sub(r"^\W+", "", line) for line in lines if CLOSING.search(line)))


def run(steps, logs):
    running = {}
    try:
        return run_all(steps, logs, running)
    finally:
        # After an interrupt: each step is a separate session, which no signal reaches by itself.
        for child in running:
            os.killpg(child, signal.SIGTERM)


def run_all(steps, logs, running):
    waiting, results = list(steps), {}
    began = time.monotonic()

    def finish(step, status, usage, start):
        outcome = {0: "passed", 3: "skipped"}.get(status, "failed")
        log = logs / f"{step.name}.log"
        result = Result(outcome, start - began, time.monotonic() - start, usage.ru_utime + usage.ru_stime, note(log))
        results[step.name] = result
        print(f"[{time.monotonic() - began:5.0f} s] {step.name}: {outcome} in {result.seconds:.0f} s", flush=True)
        if outcome == "failed":
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            if len(lines) > LONGEST_OUTPUT:
                print(f"… the first {len(lines) - LONGEST_OUTPUT} lines are in {log}")
            print("\n".join(lines[-LONGEST_OUTPUT:]), flush=True)
        elif result.note:
            print(f"          {result.note}", flush=True)

    while waiting or running:
        for step in list(waiting):
            before = [results[name].outcome for name in step.after if name in results]
            if "failed" in before or "left out" in before:
                waiting.remove(step)
                results[step.name] = Result("left out", 0, 0, 0, "")
            elif len(before) == len(step.after) and may_start(step, [other for other, _ in running.values()]):
                waiting.remove(step)
                with open(logs / f"{step.name}.log", "wb") as output:
                    child = subprocess.Popen(
                        ["bash", "-c", step.command], stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True
                    )
                running[child.pid] = (step, time.monotonic())
        if not running:
            continue
        child, status, usage = os.wait4(-1, 0)
        if child in running:
            step, start = running.pop(child)
            finish(step, os.waitstatus_to_exitcode(status), usage, start)
    return results, time.monotonic() - began


def print_table(steps, results, seconds):
    print(f"\n{'step':<22} {'outcome':<8} {'began':>6} {'took':>6} {'processor':>9}")
    for step in steps:
        result = results[step.name]
        times = f"{result.began:4.0f} s {result.seconds:4.0f} s {result.processor:7.0f} s" if result.seconds else ""
        print(f"{step.name:<22} {result.outcome:<8} {times}".rstrip())
    print(f"{'together':<22} {'':<8} {'':>6} {seconds:4.0f} s {sum(result.processor for result in results.values()):7.0f} s")
    count = collections.Counter(result.outcome for result in results.values())
    print(f"{count['passed']} steps passed, {count['failed']} failed, {count['skipped']} skipped, {count['left out']} left out")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("steps")
    arguments.add_argument("names", nargs="*")
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("--logs", default=".build/logs", type=pathlib.Path)
    options = arguments.parse_args()
    os.chdir(pathlib.Path(__file__).resolve().parent.parent)
    steps = read(options.steps)
    unknown = set(options.names) - {step.name for step in steps}
    if unknown:
        sys.exit(f"no step is called '{', '.join(sorted(unknown))}'; {options.steps} has: {', '.join(step.name for step in steps)}")
    if options.names:
        steps = [step._replace(after=[name for name in step.after if name in options.names]) for step in steps if step.name in options.names]
    if options.list:
        for step in steps:
            print(f"{step.name:<22} {step.kind:<7} {step.command}")
        return
    options.logs.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    results, seconds = run(steps, options.logs)
    print_table(steps, results, seconds)
    sys.exit(1 if any(result.outcome == "failed" for result in results.values()) else 0)


if __name__ == "__main__":
    main()
