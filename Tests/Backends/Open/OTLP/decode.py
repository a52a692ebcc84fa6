"""Decodes OTLP requests with the public protocol's generated classes: lines of `KIND HEX` in, lines of canonical JSON out.

KIND is `logs` or `metrics`; `logs-json` and `metrics-json` hold JSON, which is parsed by the protocol's rules and must have no unknown field.
"""

import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

for line in sys.stdin:
    kind, _, digits = line.strip().partition(" ")
    message = ExportLogsServiceRequest() if kind.startswith("logs") else ExportMetricsServiceRequest()
    content = bytes.fromhex(digits)
    if kind.endswith("-json"):
        json_format.Parse(content.decode(), message)
    else:
        message.ParseFromString(content)
    print(json_format.MessageToJson(message, indent=None), flush=True)
