#!/usr/bin/env python3
"""Measures the work of the dashboard's page for many streams in headless Chromium, without a monitor: the page's files, with fixed data.

Prints the time from the beginning of the navigation to the first frame with rows, and the time of the main thread that an update costs in which
half of the streams change: the script, and with it style, layout and painting (the longest and the median of the updates).

With --places, the streams are those of some places, which the page groups by name.

Usage: scripts/measure-page.py [--streams 1000] [--rounds 10] [--places 5]
"""
import argparse, json, statistics, tempfile, time
from browser import Browser
from monitor_fixture import Fixture, ago, mixed

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--streams", type=int, default=1000)
arguments.add_argument("--rounds", type=int, default=10)
arguments.add_argument("--places", type=int, default=0)
arguments.add_argument("--chromium", default="chromium")
options = arguments.parse_args()

FIRST = """new Promise(resolve => {
  const look = () => document.querySelector('#rows .row .name') ? requestAnimationFrame(() => resolve(performance.now())) : requestAnimationFrame(look)
  look()
})"""
fixture = Fixture("well")
fixture.state["streams"] = mixed(options.streams)
if options.places:
    for number, row in enumerate(fixture.state["streams"]):
        origin, place = f"channel-{number // options.places}", f"place-{number % options.places}"
        row |= {"name": f"{origin} ({place})", "origin": origin, "place": place, "labels": row["labels"] | {"location": place}}
    fixture.state |= {"source": {"caughtUp": True}, "places": [{"name": f"place-{number}", "state": "reports", "latest": ago(1), "streams": options.streams // options.places, "down": 0}
                                                              for number in range(options.places)]}
browser = Browser(tempfile.mkdtemp(prefix="page-measurement-"), options.chromium)


def main_thread(session):
    metrics = {metric["name"]: metric["value"] for metric in browser.ask("Performance.getMetrics", session)["metrics"]}
    return metrics["ScriptDuration"] * 1000, metrics["TaskDuration"] * 1000


try:
    paints, costs = [], []
    for number in range(options.rounds):
        tab, session = browser.open("about:blank")
        # The processor time of the main thread, which other processes do not lengthen.
        browser.ask("Performance.enable", session, timeDomain="threadTicks")
        before = main_thread(session)
        browser.ask("Page.navigate", session, url=fixture.address)
        paints.append(browser.value(session, FIRST))
        costs.append(main_thread(session)[1] - before[1])
        if number < options.rounds - 1:
            browser.close(tab)
    time.sleep(3)
    # What the page does by itself: the clock and the durations.
    before = main_thread(session)
    time.sleep(5)
    after = main_thread(session)
    idle = [(b - a) / 5 for a, b in zip(before, after)]
    scripts, tasks = [], []
    for number in range(options.rounds):
        rows = [row | {"bitrate": 500_000 + number * 1000 + index, "latency": 5_000 + 100 * number, "state": "stalled" if (index + number) % 97 == 0 else row["state"]}
                for index, row in enumerate(fixture.state["streams"]) if index % 2 == number % 2]
        before = main_thread(session)
        fixture.update(rows, time=ago(-number))
        time.sleep(1)
        after = main_thread(session)
        scripts.append(after[0] - before[0] - idle[0])
        tasks.append(after[1] - before[1] - idle[1])
finally:
    browser.end()
print(f"{options.streams} streams: first frame with rows after {paints[0]:.0f} ms in a new browser, then {statistics.median(paints[1:]):.0f} ms "
      f"(median of {len(paints) - 1}; {min(paints[1:]):.0f} to {max(paints[1:]):.0f}); {statistics.median(costs):.0f} ms of the main thread")
for name, values in (("script", scripts), ("main thread", tasks)):
    print(f"{options.streams} streams: an update of {options.streams // 2} costs {statistics.median(values):.1f} ms of the {name} (median of {len(values)}; at most {max(values):.1f})")
print(f"{options.streams} streams: the clock and the durations cost {idle[1]:.1f} ms of the main thread a second")
