internal import Instrument
internal import InstrumentJSON
internal import InstrumentText

/// Writes the bodies of requests to New Relic within its limits, and counts what was changed for that.
struct NewRelicEncoder {
    /// The name of an attribute as the service accepts it.
    private struct WireName {
        var text: String
        var quoted: [UInt8]
        var alterations: [Alteration]
    }

    private(set) var alterations: AlterationCounts = [:]
    private var names = NameCache<WireName>()

    /// The body of a request to the Event API.
    mutating func body(of events: [NewRelicEvent]) -> [UInt8] {
        alterations = [:]
        var writer = JSONWriter(capacity: events.count * 1024)
        writer.array { writer in for event in events { write(event, to: &writer) } }
        return writer.bytes
    }

    /// The body of a request to the Metric API.
    mutating func body(of metrics: [NewRelicMetric]) -> [UInt8] {
        alterations = [:]
        var writer = JSONWriter(capacity: metrics.count * 512)
        writer.array { writer in
            writer.object { writer in
                writer.key("metrics")
                writer.array { writer in for metric in metrics { write(metric, to: &writer) } }
            }
        }
        return writer.bytes
    }

    private mutating func write(_ event: NewRelicEvent, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("eventType")
            writer.string(type(event.type))
            writer.key("timestamp")
            writer.value(.int(milliseconds(event.time)))
            write(event.attributes, limit: NewRelicLimits.eventAttributes - 2, hasTruths: false, to: &writer)
        }
    }

    private mutating func write(_ metric: NewRelicMetric, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("name")
            writer.string(short(metric.name.isEmpty ? "_" : metric.name))
            write(metric.value, to: &writer)
            writer.key("timestamp")
            writer.value(.int(milliseconds(metric.time)))
            writer.key("attributes")
            writer.object { writer in
                write(metric.attributes, limit: NewRelicLimits.metricAttributes, hasTruths: true, to: &writer)
            }
        }
    }

    private mutating func write(_ value: NewRelicMetric.Value, to writer: inout JSONWriter) {
        var interval: Duration?
        writer.key("type")
        switch value {
        case .gauge(let number):
            writer.string("gauge")
            writer.key("value")
            write(number, to: &writer)
        case .count(let number, let duration):
            writer.string("count")
            writer.key("value")
            write(number, to: &writer)
            interval = duration
        case .summary(let count, let sum, let min, let max, let duration):
            writer.string("summary")
            writer.key("value")
            writer.object { writer in
                for (name, number) in [("count", count), ("sum", sum), ("min", min), ("max", max)] {
                    writer.key(name)
                    write(number, to: &writer)
                }
            }
            interval = duration
        }
        if let interval {
            writer.key("interval.ms")
            writer.value(.int(max(1, interval.milliseconds)))
        }
    }

    /// As an integer where that is shorter.
    private func write(_ number: Double, to writer: inout JSONWriter) {
        if let whole = Int(exactly: number), whole.magnitude <= NewRelicLimits.exactInteger {
            writer.value(.int(whole))
        } else {
            writer.value(.double(number.isFinite ? number : 0))
        }
    }

    // MARK: Attributes

    private mutating func write(
        _ attributes: Attributes,
        limit: Int,
        hasTruths: Bool,
        to writer: inout JSONWriter
    ) {
        var (count, changed) = (0, Set<String>())
        attributes.withElements { elements in
            for index in elements.indices {
                let name = name(elements[index].name)
                guard count < limit, !name.text.isEmpty, isFree(name, attributes, &changed) else {
                    self.count(.omittedAttributes)
                    continue
                }
                count += 1
                for alteration in name.alterations { self.count(alteration) }
                writer.key(quoted: name.quoted)
                write(elements[index].value, hasTruths, to: &writer)
            }
        }
    }

    /// Whether a changed name is no other attribute's.
    private func isFree(_ name: WireName, _ attributes: Attributes, _ changed: inout Set<String>) -> Bool {
        if name.alterations.isEmpty { return true }
        return attributes[AttributeName(name.text)] == nil && changed.insert(name.text).inserted
    }

    private mutating func write(_ value: AttributeValue, _ hasTruths: Bool, to writer: inout JSONWriter) {
        switch value {
        case .string(let text): writer.string(cut(text))
        case .int(let number):
            if number.magnitude > NewRelicLimits.exactInteger { count(.roundedNumbers) }
            writer.value(value)
        case .double: writer.value(value)
        case .bool(let truth):
            if hasTruths { writer.value(value) } else { writer.string(truth ? "true" : "false") }
        case .array, .object: writer.string(cut(JSONValue(value).description))
        }
    }

    private mutating func cut(_ text: String) -> String {
        guard let short = text.shortened(toBytes: NewRelicLimits.textBytes) else { return text }
        count(.shortenedTexts)
        return short
    }

    private mutating func name(_ name: AttributeName) -> WireName {
        names.form(of: name) { spelling in
            var wire = WireName(text: spelling, quoted: [], alterations: [])
            if spelling.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
                wire.text = String(
                    String.UnicodeScalarView(
                        spelling.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "_" : $0 }
                    )
                )
                wire.alterations.append(.replacedCharacters)
            }
            if NewRelicLimits.reservedNames.contains(wire.text) {
                wire.text += "_"
                wire.alterations.append(.renamedAttributes)
            }
            if let short = wire.text.shortened(toBytes: NewRelicLimits.nameBytes) {
                wire.text = short
                wire.alterations.append(.shortenedNames)
            }
            wire.quoted = JSONWriter.quoted(wire.text)
            return wire
        }
    }

    // MARK: Types, names and times

    private mutating func type(_ type: String) -> String {
        let isPlain = { (byte: UInt8) in
            byte.isLetter || byte.isDigit || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":")
        }
        if !type.isEmpty, type.utf8.allSatisfy(isPlain) { return short(type) }
        count(.replacedCharacters)
        let plain = type.unicodeScalars.map { $0.isASCII && isPlain(UInt8($0.value)) ? $0 : "_" }
        return short(plain.isEmpty ? "_" : String(String.UnicodeScalarView(plain)))
    }

    private mutating func short(_ name: String) -> String {
        guard let short = name.shortened(toBytes: NewRelicLimits.nameBytes) else { return name }
        count(.shortenedNames)
        return short
    }

    /// The years up to 9999; before 1970 the service accepts no time.
    private mutating func milliseconds(_ time: WallTime) -> Int {
        let range: ClosedRange<Int64> = 0...253_402_300_799_999
        if range.contains(time.milliseconds) { return Int(time.milliseconds) }
        count(.clampedTimes)
        return Int(time.milliseconds < 0 ? 0 : range.upperBound)
    }

    private mutating func count(_ alteration: Alteration) { alterations[alteration, default: 0] += 1 }
}
