public import Instrument
internal import InstrumentText

/// How samples become log records and measurements. Change its parts, or pass a function of yours as the
/// configuration's `mapping`.
///
/// | sample | becomes |
/// |---|---|
/// | event | a log record named `openavt.` and the action in snake case; severity `ERROR` for `Error`, `FATAL` if it ended playback |
/// | metric, a gauge in milliseconds | a part of an exponential histogram in seconds, `openavt.start_time` for `StartTime` |
/// | metric, a counter | a part of a sum (delta), `openavt.num_plays` for `NumPlays` |
/// | metric, another gauge | a gauge |
///
/// OpenTelemetry has no convention for media. Attributes are therefore named `openavt.` and their name, except these:
///
/// | attribute | name |
/// |---|---|
/// | the sample's identifier | `log.record.uid`, by which a copy can be recognised |
/// | `playbackId` | `session.id` |
/// | `source` | `url.full`, without user, password, query and fragment |
/// | `userId` | `user.id` |
/// | each label of a monitored stream | `openavt.label.` and its name, as OpenTelemetry names the labels of containers |
/// | an `Error`'s type | `error.type`: `_OTHER`, as OpenTelemetry wants it where no type is known |
///
/// Stream (`openavt.monitorStream`), labels and location (`openavt.monitorLocation`) of a monitor are attributes of
/// each log record and each data point, and not of the resource: one process plays many streams, and what waits in its
/// queue may have been recorded under another configuration.
///
/// Measurements have the attributes in ``metricAttributes`` and the labels of their metric (`Metric.labels`), such as
/// `openavt.rendition` of a `TimeInQuality`. Not sent: the monotonic instant and the sample's number in the queue,
/// which mean nothing outside of this machine, the identifiers of metrics, and the attributes in ``omitted``.
public struct OTLPMapping: Sendable {
    /// The attributes of measurements beside the labels of their metric. Keep the list short and each attribute's set
    /// of values small.
    public var metricAttributes: [AttributeName]
    /// The attributes that are not sent.
    public var omitted: Set<AttributeName>

    /// Creates a mapping; by default measurements have the tracker's target.
    public init(
        metricAttributes: [AttributeName] = [AttributeKey<String>.trackerTarget.name],
        omitted: Set<AttributeName> = []
    ) {
        self.metricAttributes = metricAttributes
        self.omitted = omitted
    }

    /// The record of a sample.
    public func callAsFunction(_ record: SampleRecord) -> OTLPRecord? {
        switch record.sample {
        case .event(let event): .log(log(event, record))
        case .metric(let metric): .measurement(measurement(metric))
        }
    }

    private func log(_ event: Event, _ record: SampleRecord) -> OTLPLog {
        let attributes = WireNames.withAttributes { names in
            var attributes: [OTLPLog.Attribute] = []
            attributes.reserveCapacity(event.attributes.count + 3)
            eachAttribute(of: event, record) { name, value in
                let text =
                    switch name {
                    case .attribute(let name): names.form(of: name, WireNames.wire)
                    case .other(let text): text
                    }
                attributes.append(OTLPLog.Attribute(text, value))
            }
            return attributes
        }
        return OTLPLog(
            name: WireNames.event(event.action.name),
            severity: severity(of: event),
            attributes: attributes,
            time: event.time.wallTime
        )
    }

    /// The name of a log record's attribute.
    enum LogName {
        /// The name that ``WireNames`` has for it.
        case attribute(AttributeName)
        /// The name itself.
        case other(String)
    }

    /// Calls `body` with the attributes of an event's log record, in their order.
    func eachAttribute(of event: Event, _ record: SampleRecord, _ body: (LogName, AttributeValue) -> Void) {
        body(.other("log.record.uid"), .string(record.id.description))
        body(.other("openavt.tracker"), .int(event.tracker.number))
        event.attributes.withElements { elements in
            for index in elements.indices {
                let name = elements[index].name
                if name == Self.labels || !omitted.isEmpty && omitted.contains(name) { continue }
                if name == Self.source {
                    body(.attribute(name), Self.withoutSecrets(elements[index].value))
                } else {
                    body(.attribute(name), elements[index].value)
                }
            }
        }
        for label in labels(event.attributes) { body(.other(label.name), label.value) }
        if isError(event) { body(.other("error.type"), "_OTHER") }
    }

    func severity(of event: Event) -> OTLPLog.Severity {
        isError(event) ? event[.isFatal] == true ? .fatal : .error : .info
    }

    private func isError(_ event: Event) -> Bool { event.action == .error || event.action == .adError }

    func measurement(_ metric: Metric) -> OTLPMeasurement {
        var value: Double =
            switch metric.value {
            case .int(let number): Double(number)
            case .double(let number): number
            }
        var (unit, kind) = ("1", OTLPMeasurement.Kind.gauge)
        switch metric.name.unit {
        case .milliseconds: (unit, value) = ("s", value / 1000)
        case .bitsPerSecond: unit = "bit/s"
        case .perMinute: unit = "1/min"
        case .count, .ratio: break
        }
        if metric.name.kind == .counter {
            kind = .sum
        } else if metric.name.unit == .milliseconds {
            kind = .histogram
        }
        var attributes = metricAttributes.compactMap { name in
            metric.attributes[name].map { OTLPLog.Attribute(WireNames.attribute(name), $0) }
        }
        for label in metric.ownLabels where !metricAttributes.contains(label.name) && !omitted.contains(label.name) {
            let value = label.name == Self.source ? Self.withoutSecrets(label.value) : label.value
            attributes.append(OTLPLog.Attribute(WireNames.attribute(label.name), value))
        }
        attributes += labels(metric.attributes)
        return OTLPMeasurement(
            name: WireNames.event(metric.name.spelling),
            unit: unit,
            kind: kind,
            value: value,
            attributes: attributes,
            time: metric.time.wallTime
        )
    }

    private static let labels = AttributeKey<[String: String]>.monitorLabels.name

    /// The labels of a monitored stream.
    private func labels(_ attributes: Attributes) -> [OTLPLog.Attribute] {
        if omitted.contains(Self.labels) || attributes[Self.labels] == nil { return [] }
        return attributes.monitorLabels.map { OTLPLog.Attribute("openavt.label." + $0.name, .string($0.value)) }
    }

    private static let source = AttributeKey<String>.source.name

    private static func withoutSecrets(_ value: AttributeValue) -> AttributeValue {
        if case .string(let text) = value { .string(withoutSecrets(text)) } else { value }
    }

    /// The address without user, password, query and fragment.
    private static func withoutSecrets(_ address: String) -> String {
        // Most addresses have none of them.
        let isMark = { (byte: UInt8) in
            byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") || byte == UInt8(ascii: "@")
        }
        let hasMark = address.utf8.withContiguousStorageIfAvailable { $0.contains(where: isMark) }
        if hasMark == false { return address }
        let bytes = address.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let scheme = text.utf8.firstRange(of: Array("://".utf8)) else { return text }
        let authority = text.utf8[scheme.upperBound...].prefix { $0 != UInt8(ascii: "/") }
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return text }
        return String(text[..<scheme.upperBound]) + text[text.utf8.index(after: at)...]
    }
}

/// The names of events, metrics and attributes, made once for each.
enum WireNames {
    private static let events = Lock([String: String]())
    private static let attributes = Lock(NameCache<String>())

    /// `openavt.buffer_begin` for `BufferBegin`.
    static func event(_ name: String) -> String {
        events.withLock { known in
            if let wire = known[name] { return wire }
            let wire = "openavt." + snake(name)
            if known.count < 10_000 { known[name] = wire }
            return wire
        }
    }

    static func attribute(_ name: AttributeName) -> String { attributes.withLock { $0.form(of: name, wire) } }

    /// Calls `body` with the names of attributes that were made before, for many of them in a row.
    static func withAttributes<Result: Sendable>(_ body: (inout NameCache<String>) -> Result) -> Result {
        attributes.withLock { body(&$0) }
    }

    static func wire(_ spelling: String) -> String {
        switch spelling {
        case "playbackId": "session.id"
        case "source": "url.full"
        case "userId": "user.id"
        default: "openavt." + spelling
        }
    }

    private static func snake(_ name: String) -> String {
        var text: [UInt8] = []
        for byte in name.utf8 {
            let isUpper = UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
            if isUpper, !text.isEmpty, text.last != UInt8(ascii: "_") { text.append(UInt8(ascii: "_")) }
            text.append(isUpper ? byte | 0x20 : byte)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
