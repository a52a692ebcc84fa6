"""Runs queries of sql/ over recordings and prints one JSON object per query: {"query": …, "rows": [{…}, …]}.

Usage: run-sql.py duckdb|clickhouse|clickhouse-fleet RECORDINGS QUERY.sql…

`clickhouse-fleet` inserts the lines into the tables of sql/clickhouse/fleet instead of reading the files in place. Then RECORDINGS may be
`kafka:BROKERS/TOPIC#COUNT`: the engine reads the topic through kafka.sql until there are COUNT samples. A query may be a name of
sql/ENGINE, or `=SELECT …`. (Needs duckdb or chdb from PyPI: scripts/install-sql-engines.sh)
"""

import json
import pathlib
import re
import sys
import time

from sql_statements import statements

engine, recordings, *queries = sys.argv[1:]
is_fleet = engine == "clickhouse-fleet"
directory = pathlib.Path(__file__).resolve().parent.parent / "sql" / engine.removesuffix("-fleet")
schema = (directory / ("fleet/tables.sql" if is_fleet else "schema.sql")).read_text(encoding="utf-8")


def open_topic(connection, table, group):
    """Makes the table that reads a topic, for the consumers of another group than before."""
    connection.query("DROP TABLE IF EXISTS " + re.search(r"CREATE TABLE (?:IF NOT EXISTS )?(\w+)", table)[1])
    try:
        connection.query(re.sub(r"(kafka_group_name = '[^']*)'", rf"\g<1>-{group}'", table))
    except Exception as error:
        # chDB has no threads that read a topic in the background. The table is there, and the view's query reads it.
        if "Shutdown was called" not in str(error):
            raise


def read_topic(connection, brokers, topic, count):
    """Reads a topic as sql/clickhouse/fleet/kafka.sql says, with other brokers and another topic."""
    text = (directory / "fleet/kafka.sql").read_text(encoding="utf-8")
    for name, value in [("kafka_broker_list", brokers), ("kafka_topic_list", topic)]:
        text = re.sub(name + r" = '[^']*'", f"{name} = '{value}'", text)
    table, view = statements(text)
    reading = "INSERT INTO sample_lines " + view.split(" AS\n", 1)[1] + " SETTINGS stream_like_engine_allow_direct_select = 1"
    end, found = time.monotonic() + 600, 0
    # On a busy machine, a group of consumers was seen to wait without all messages. Another group reads the topic from its beginning; the
    # tables keep one row for each sample.
    for group in range(10):
        open_topic(connection, table, group)
        # These have no identifier by which a copy is known.
        connection.query("TRUNCATE TABLE broken_lines")
        until = min(end, time.monotonic() + 60)
        while time.monotonic() < until:
            connection.query(reading)
            found = int(str(connection.query("SELECT uniqExact(id) FROM samples", "CSV")))
            if found >= int(count):
                return
    sys.exit(f"{found} of {count} samples have arrived from {brokers}/{topic}")


def duckdb_rows(connection, text):
    result = connection.execute(text)
    names = [column[0] for column in result.description]
    return [dict(zip(names, row)) for row in result.fetchall()]


if engine == "duckdb":
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET VARIABLE recordings = ?", [recordings])
    for statement in statements(schema):
        connection.execute(statement)
    run = lambda text: duckdb_rows(connection, text)
else:
    from chdb import session

    connection = session.Session()
    quoted = recordings.replace("\\", "\\\\").replace("'", "\\'")
    connection.query("SET param_recordings = '" + quoted + "'")
    for statement in statements(schema):
        connection.query(statement)
    if recordings.startswith("kafka:"):
        read_topic(connection, *re.fullmatch(r"kafka:(.*)/(.*)#(\d+)", recordings).groups())
    elif is_fleet:
        connection.query(f"INSERT INTO sample_lines SELECT line FROM file('{quoted}', 'LineAsString', 'line String')")
    run = lambda text: json.loads(str(connection.query(text + " SETTINGS output_format_json_quote_64bit_integers = 0", "JSON")))["data"]

for query in queries:
    text = query[1:] if query.startswith("=") else (directory / query).read_text(encoding="utf-8")
    for statement in statements(text):
        print(json.dumps({"query": query, "rows": run(statement)}), flush=True)
