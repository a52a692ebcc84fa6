#!/usr/bin/env python3
"""Prints the sizes of programs and the time of `--version`: the least and the median of 40 runs.

    packaging/measure.py PROGRAM…
"""
import os
import resource
import statistics
import subprocess
import sys
import time

RUNS = 40


def spent():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    print("program\tMB\tlibraries\twall ms, least\tmedian\tprocessor ms, least\tmedian")
    for program in sys.argv[1:]:
        walls, processors = [], []
        for _ in range(RUNS):
            begin, used = time.monotonic(), spent()
            subprocess.run([program, "--version"], check=True, stdout=subprocess.DEVNULL)
            walls.append(1e3 * (time.monotonic() - begin))
            processors.append(1e3 * (spent() - used))
        libraries = len(subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout.splitlines())
        figures = [min(walls), statistics.median(walls), min(processors), statistics.median(processors)]
        print(f"{program}\t{os.path.getsize(program) / 1e6:.1f}\t{libraries}\t" + "\t".join(f"{figure:.1f}" for figure in figures))


if __name__ == "__main__":
    main()
