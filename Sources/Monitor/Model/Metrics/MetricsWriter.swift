internal import InstrumentText

/// Writes the text formats of Prometheus: exposition format 0.0.4, and OpenMetrics 1.0.
package struct MetricsWriter {
    /// A text format.
    package enum Format: Hashable, Sendable {
        case prometheus, openMetrics

        package var contentType: String {
            switch self {
            case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
            case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
            }
        }

        /// The format that a client accepts.
        package init(accept: String?) {
            self = accept?.lowercased().contains("application/openmetrics-text") == true ? .openMetrics : .prometheus
        }
    }

    /// A type of metric.
    package enum Kind: String, Hashable, Sendable { case counter, gauge, histogram }

    package private(set) var bytes: [UInt8] = []
    private let format: Format
    private var family: [UInt8] = []
    /// The labels of the buckets of the last histogram, and its bounds: the histograms of a family have the same.
    private var buckets: (bounds: [Double], labels: [[UInt8]]) = ([], [])
    private static let lastBucket = labels([("le", "+Inf")])

    package init(_ format: Format, capacity: Int = 4_096) {
        self.format = format
        bytes.reserveCapacity(capacity)
    }

    /// Begins a family. The name of a counter is given without `_total`.
    package mutating func begin(_ name: String, _ kind: Kind, _ help: String, unit: String? = nil) {
        family = Array(name.utf8)
        let shown = kind == .counter && format == .prometheus ? name + "_total" : name
        bytes.append("# HELP \(shown) \(Self.escapedHelp(help))\n# TYPE \(shown) \(kind.rawValue)\n")
        if let unit, format == .openMetrics, name.hasSuffix("_" + unit) { bytes.append("# UNIT \(shown) \(unit)\n") }
        if kind == .counter { family += Array("_total".utf8) }
    }

    /// Writes a sample of the family; the labels are escaped already.
    package mutating func sample(_ value: Double, _ labels: [UInt8], _ more: [UInt8] = [], suffix: StaticString = "") {
        bytes += family
        suffix.withUTF8Buffer { bytes.append(contentsOf: $0) }
        if !labels.isEmpty || !more.isEmpty {
            bytes.append(UInt8(ascii: "{"))
            bytes += labels
            if !labels.isEmpty, !more.isEmpty { bytes.append(UInt8(ascii: ",")) }
            bytes += more
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(UInt8(ascii: " "))
        append(value)
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Writes the samples of a histogram.
    package mutating func histogram(_ histogram: BucketHistogram, _ labels: [UInt8]) {
        if buckets.bounds != histogram.bounds {
            buckets = (histogram.bounds, histogram.bounds.map { Self.labels([("le", "\($0)")]) })
        }
        var sum = 0
        for (count, bucket) in zip(histogram.counts, buckets.labels) {
            sum += count
            sample(Double(sum), labels, bucket, suffix: "_bucket")
        }
        sample(Double(histogram.count), labels, Self.lastBucket, suffix: "_bucket")
        sample(histogram.sum, labels, suffix: "_sum")
        sample(Double(histogram.count), labels, suffix: "_count")
    }

    /// Ends the text.
    package mutating func finish() { if format == .openMetrics { bytes.append("# EOF\n") } }

    private mutating func append(_ value: Double) {
        if value.isNaN { return bytes.append("NaN") }
        if value.isInfinite { return bytes.append(value < 0 ? "-Inf" : "+Inf") }
        if let whole = Int(exactly: value), whole.magnitude < 1 << 53 {
            bytes.append(decimal: whole)
        } else {
            bytes.append("\(value)")
        }
    }

    /// Labels without braces, with escaped values: `stream="news",cdn="a"`.
    package static func labels(_ labels: [(String, String)]) -> [UInt8] {
        var text: [UInt8] = []
        for (index, (name, value)) in labels.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            text += Array(name.utf8) + Array("=\"".utf8)
            for byte in value.utf8 {
                switch byte {
                case UInt8(ascii: "\\"): text += Array("\\\\".utf8)
                case UInt8(ascii: "\""): text += Array("\\\"".utf8)
                case UInt8(ascii: "\n"): text += Array("\\n".utf8)
                // A bare carriage return would look like the end of a line to people and some readers.
                case UInt8(ascii: "\r"): text.append(UInt8(ascii: " "))
                default: text.append(byte)
                }
            }
            text.append(UInt8(ascii: "\""))
        }
        return text
    }

    private static func escapedHelp(_ text: String) -> String {
        text.contains(where: { $0 == "\\" || $0 == "\n" }) ? text.split(separator: "\n").joined(separator: " ") : text
    }
}
