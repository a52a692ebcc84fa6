internal import Instrument
internal import InstrumentText

/// Writes points in Graphite's plaintext protocol: `path value seconds`, one a line.
///
/// Carbon splits a line at white space and a path at dots, and makes a file of a path. So in each node and tag a space,
/// control character, dot, slash, semicolon or wildcard of a query becomes an underscore.
struct PlaintextProtocol {
    /// The largest number of bytes of a node or a tag. A file name has 255 at most, `.wsp` included.
    static let maxNameLength = 200
    /// Whisper stores 32 bits without a sign.
    private static let times: ClosedRange<Int64> = 0...Int64(UInt32.max)

    private(set) var bytes: [UInt8] = []
    private(set) var alterations: AlterationCounts = [:]
    /// The sums for each path and second of this batch, in the order of the first values.
    private(set) var sums: [GraphiteSums.Key: Double] = [:]
    private var order: [GraphiteSums.Key] = []

    mutating func removeAll() { self = PlaintextProtocol() }

    /// Appends the line of a point; of a point that is added up only its share of the sum, which ``finish(adding:)``
    /// writes.
    mutating func append(_ point: GraphitePoint) {
        let seconds = seconds(point.time)
        guard point.value.isFinite else { return count(.omittedAttributes) }
        let path = path(of: point)
        if point.kind == .last { return append(path, point.value, seconds) }
        let key = GraphiteSums.Key(path: path, seconds: seconds)
        if let sum = sums[key] {
            sums[key] = sum + point.value
        } else {
            sums[key] = point.value
            order.append(key)
        }
    }

    /// Writes the lines of sums, with what earlier batches added to the same path and second.
    mutating func finish(adding earlier: GraphiteSums) {
        for key in order { append(key.path, (sums[key] ?? 0) + earlier[key], key.seconds) }
    }

    private mutating func append(_ path: [UInt8], _ value: Double, _ seconds: Int64) {
        bytes += path
        bytes.append(UInt8(ascii: " "))
        if let whole = Int(exactly: value), whole.magnitude < 1 << 53 {
            bytes.append(decimal: whole)
        } else {
            bytes.append(String(value))
        }
        bytes.append(UInt8(ascii: " "))
        bytes.append(decimal: Int(seconds))
        bytes.append(UInt8(ascii: "\n"))
    }

    private mutating func seconds(_ time: WallTime) -> Int64 {
        let seconds = time.milliseconds.flooredQuotientAndRemainder(dividingBy: 1000).quotient
        if Self.times.contains(seconds) { return seconds }
        count(.clampedTimes)
        return seconds < 0 ? 0 : Self.times.upperBound
    }

    private mutating func path(of point: GraphitePoint) -> [UInt8] {
        var path: [UInt8] = []
        for node in point.path {
            if !path.isEmpty { path.append(UInt8(ascii: ".")) }
            path.append(name(node))
        }
        if path.isEmpty { path.append("_") }
        for tag in point.tags where !tag.name.isEmpty && !tag.value.isEmpty {
            path.append(UInt8(ascii: ";"))
            path.append(name(tag.name))
            path.append(UInt8(ascii: "="))
            path.append(name(tag.value))
        }
        return path
    }

    private mutating func name(_ text: String) -> String {
        let (name, alterations) = Self.name(text)
        for alteration in alterations { count(alteration) }
        return name
    }

    /// The text with each character replaced that Graphite does not allow in a node, and what was changed.
    static func name(_ text: String) -> (name: String, alterations: [Alteration]) {
        if text.utf8.allSatisfy(isPlain), !text.isEmpty, text.utf8.count <= maxNameLength { return (text, []) }
        var (text, alterations) = (text, [Alteration]())
        if let short = text.shortened(toBytes: maxNameLength) {
            text = short
            alterations.append(.shortenedNames)
        }
        var name = String.UnicodeScalarView()
        var isReplaced = text.isEmpty
        for scalar in text.unicodeScalars {
            let isAllowed = scalar.isASCII ? isPlain(UInt8(scalar.value)) : isVisible(scalar)
            name.append(isAllowed ? scalar : "_")
            isReplaced = isReplaced || !isAllowed
        }
        if isReplaced { alterations.append(.replacedCharacters) }
        return (text.isEmpty ? "_" : String(name), alterations)
    }

    private static func isPlain(_ byte: UInt8) -> Bool { plain[Int(byte)] }

    /// For each byte, whether a name may have it as it is.
    private static let plain: [Bool] = (0...UInt8.max).map { byte in
        byte.isLetter || byte.isDigit || "_-:+%@#&$<>|".utf8.contains(byte)
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate, .privateUse,
            .unassigned:
            false
        default: true
        }
    }

    private mutating func count(_ alteration: Alteration) { alterations[alteration, default: 0] += 1 }
}

/// The values that were sent for each path and second, so that a later batch of the same second adds to them instead of
/// replacing them.
struct GraphiteSums {
    struct Key: Hashable {
        let path: [UInt8]
        let seconds: Int64

        /// All bytes at once: an array hashes each byte separately.
        func hash(into hasher: inout Hasher) {
            path.withUnsafeBytes { hasher.combine(bytes: $0) }
            hasher.combine(seconds)
        }
    }

    private static let maxCount = 10_000
    /// Samples of one second rarely are in batches that are further apart.
    private static let maxAge: Int64 = 600

    private var sums: [Key: Double] = [:]

    subscript(key: Key) -> Double { sums[key] ?? 0 }

    /// Adds the sums of a batch that was written.
    mutating func commit(_ added: [Key: Double]) {
        sums.merge(added, uniquingKeysWith: +)
        if sums.count <= Self.maxCount { return }
        let newest = sums.keys.reduce(Int64.min) { max($0, $1.seconds) }
        sums = sums.filter { $0.key.seconds > newest - Self.maxAge }
        if sums.count > Self.maxCount { sums = sums.filter { $0.key.seconds == newest } }
    }
}
