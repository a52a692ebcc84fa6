"""Encodes recorded samples with the official Python clients, beside `BackendBenchmark`: line protocol (influxdb-client), OTLP logs
(opentelemetry-proto). Prints the processor time of a sample, which a busy machine changes less than the elapsed time.

Usage: SAMPLES=SAMPLES.ndjson BackendBenchmark 50000; compare-encoders.py SAMPLES.ndjson     (needs influxdb-client and opentelemetry-proto from PyPI)
"""

import json
import sys
import time

with open(sys.argv[1], encoding="utf-8") as file:
    samples = [json.loads(line) for line in file]


def report(name, encode):
    """The best of three runs; the samples are parsed already."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        size = encode()
        best = min(best, time.process_time() - start)
    microseconds = best * 1_000_000 / len(samples)
    print(f"{name:14} {microseconds:.2f} µs of processor time a sample, {size / len(samples):.0f} bytes", flush=True)


def line_protocol():
    from influxdb_client import Point

    size = 0
    for sample in samples:
        is_event = sample["type"] == "event"
        point = Point("OAVT_EVENTS" if is_event else "OAVT_METRICS")
        point.tag("action" if is_event else "metric", sample["action" if is_event else "name"])
        if not is_event:
            point.field("value", float(sample["value"]))
        point.field("sampleId", sample["id"]).field("tracker", sample["tracker"])
        for name, value in sample["attributes"].items():
            point.field(name, value)
        size += len(point.time(sample["time"] * 1_000_000).to_line_protocol().encode())
    return size


def otlp():
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

    size = 0
    for start in range(0, len(samples), 1000):
        request = ExportLogsServiceRequest()
        records = request.resource_logs.add().scope_logs.add().log_records
        for sample in samples[start : start + 1000]:
            record = records.add(time_unix_nano=sample["time"] * 1_000_000)
            record.body.string_value = sample.get("action") or sample["name"]
            values = {"log.record.uid": sample["id"], **sample["attributes"]}
            for name, value in values.items():
                attribute = record.attributes.add(key=name)
                if isinstance(value, bool):
                    attribute.value.bool_value = value
                elif isinstance(value, int):
                    attribute.value.int_value = value
                elif isinstance(value, float):
                    attribute.value.double_value = value
                else:
                    attribute.value.string_value = str(value)
        size += len(request.SerializeToString())
    return size


report("line protocol", line_protocol)
report("OTLP logs", otlp)
