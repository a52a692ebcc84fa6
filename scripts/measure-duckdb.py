"""Measures a query of sql/duckdb over recordings, on one thread: CPU time, time on the wall, and the largest resident memory.

Usage: measure-duckdb.py RECORDINGS QUERY.sql        (needs duckdb from PyPI: scripts/install-sql-engines.sh)
"""

import pathlib
import resource
import sys
import time

import duckdb

from sql_statements import statements

recordings, query = sys.argv[1:]
directory = pathlib.Path(__file__).resolve().parent.parent / "sql" / "duckdb"

connection = duckdb.connect()
connection.execute("SET threads = 1")
connection.execute("SET VARIABLE recordings = ?", [recordings])
start, processor = time.monotonic(), time.process_time()
for name in ["schema.sql", query]:
    for statement in statements((directory / name).read_text(encoding="utf-8")):
        connection.execute(statement).fetchall()
seconds, cpu = time.monotonic() - start, time.process_time() - processor
count = connection.execute("SELECT count(*) FROM events").fetchone()[0]
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(f"DuckDB {duckdb.__version__}, {query}: {count} events in {cpu:.3f} s of CPU ({seconds:.3f} s), {int(count / cpu)} events/s, peak {peak} MiB")
