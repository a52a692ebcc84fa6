internal import Instrument
internal import InstrumentJSON

extension OTLPMessages {
    func json(of logs: [OTLPLog]) -> [UInt8] {
        let records = logs.map { log -> JSONValue in
            let time = JSONValue.string(String(log.time.nanoseconds))
            return [
                "timeUnixNano": time, "observedTimeUnixNano": time, "severityNumber": .int(log.severity.rawValue),
                "severityText": .string(log.severity.text), "eventName": .string(log.name),
                "attributes": Self.json(log.attributes),
            ]
        }
        return envelope("resourceLogs", "scopeLogs", "logRecords", records)
    }

    func json(of series: OTLPSeries) -> [UInt8] {
        envelope(
            "resourceMetrics",
            "scopeMetrics",
            "metrics",
            series.metrics.map { Self.json($0.key, $0.points) }
        )
    }

    private func envelope(_ outer: String, _ middle: String, _ inner: String, _ items: [JSONValue]) -> [UInt8] {
        let scoped: JSONValue = .object(["scope": ["name": "instrument"], inner: .array(items)])
        let whole: JSONValue = .object(["resource": ["attributes": Self.json(resource)], middle: .array([scoped])])
        return JSONValue.object([outer: .array([whole])]).bytes
    }

    private static func json(_ key: OTLPSeries.Key, _ points: [OTLPSeries.Point]) -> JSONValue {
        var metric: [String: JSONValue] = ["name": .string(key.name), "unit": .string(key.unit)]
        switch key.kind {
        case .gauge: metric["gauge"] = ["dataPoints": .array(points.map(number))]
        case .sum:
            metric["sum"] = [
                "dataPoints": .array(points.map(number)), "aggregationTemporality": 1,
                "isMonotonic": .bool(points.allSatisfy { $0.histogram.min >= 0 }),
            ]
        case .histogram:
            metric["exponentialHistogram"] = ["dataPoints": .array(points.map(histogram)), "aggregationTemporality": 1]
        }
        return .object(metric)
    }

    private static func number(_ point: OTLPSeries.Point) -> JSONValue {
        [
            "attributes": json(point.attributes), "startTimeUnixNano": .string(String(point.start)),
            "timeUnixNano": .string(String(point.end)), "asDouble": .double(point.value),
        ]
    }

    private static func histogram(_ point: OTLPSeries.Point) -> JSONValue {
        let histogram = point.histogram
        var members: [String: JSONValue] = [
            "attributes": json(point.attributes), "startTimeUnixNano": .string(String(point.start)),
            "timeUnixNano": .string(String(point.end)), "count": .string(String(histogram.count)),
            "sum": .double(histogram.sum), "scale": .int(histogram.scale),
            "zeroCount": .string(String(histogram.zeroCount)), "min": .double(histogram.min),
            "max": .double(histogram.max),
        ]
        if !histogram.buckets.isEmpty {
            members["positive"] = [
                "offset": .int(histogram.offset), "bucketCounts": .array(histogram.buckets.map { .string(String($0)) }),
            ]
        }
        return .object(members)
    }

    private static func json(_ attributes: [OTLPLog.Attribute]) -> JSONValue {
        .array(attributes.map { ["key": .string($0.name), "value": json($0.value, depth: 0)] })
    }

    private static func json(_ value: AttributeValue, depth: Int) -> JSONValue {
        switch value {
        case .string(let text): ["stringValue": .string(text)]
        case .bool(let truth): ["boolValue": .bool(truth)]
        case .int(let number): ["intValue": .string(String(number))]
        case .double(let number): ["doubleValue": .double(number)]
        case .array where depth >= maxDepth, .object where depth >= maxDepth:
            ["stringValue": .string(JSONValue(value).description)]
        case .array(let values): ["arrayValue": ["values": .array(values.map { json($0, depth: depth + 1) })]]
        case .object(let members):
            [
                "kvlistValue": [
                    "values": .array(
                        members.sortedByBytes(of: \.key).map {
                            ["key": .string($0.key), "value": json($0.value, depth: depth + 1)]
                        }
                    )
                ]
            ]
        }
    }
}
