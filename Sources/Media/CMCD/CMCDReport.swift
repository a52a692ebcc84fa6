package import Instrument
internal import InstrumentText

/// One report of Common Media Client Data (CTA-5004-B): keys with values, on a request or in the body of an event
/// report.
///
/// ```swift
/// var report = CMCDReport()
/// report[.bitrate] = .list([.init(5000, .video), .init(320, .audio)])
/// report[.isStartup] = .boolean(true)
/// report.text       // br=(5000;v 320;a),su
/// ```
///
/// Writing sorts the keys by their names, rounds what the specification wants rounded, leaves out a playback rate of 1,
/// cuts texts to the longest length, and percent-encodes characters that a structured field cannot have.
public struct CMCDReport: Hashable, Sendable {
    /// The keys and values, sorted by the bytes of the names.
    private(set) var entries: [Entry] = []

    struct Entry: Hashable, Sendable {
        let key: CMCDKey
        var value: CMCDValue
    }

    /// Creates an empty report.
    public init() { entries.reserveCapacity(16) }

    /// The value of a key; nil removes the key.
    public subscript(key: CMCDKey) -> CMCDValue? {
        get { entries.first { $0.key == key }?.value }
        set {
            var place = 0
            while place < entries.count, entries[place].key.name.precedesInBytes(key.name) { place += 1 }
            let isPresent = place < entries.count && entries[place].key == key
            switch (newValue, isPresent) {
            case (let value?, true): entries[place].value = value
            case (let value?, false): entries.insert(Entry(key: key, value: value), at: place)
            case (nil, true): entries.remove(at: place)
            case (nil, false): break
            }
        }
    }

    /// The keys in the order of their names.
    public var keys: [CMCDKey] { entries.map(\.key) }

    /// The report as text: the record of an event, or the value of the query parameter before it is encoded.
    public var text: String {
        var writer = CMCDWriter()
        writer.append(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// The query parameter `CMCD=…`, percent-encoded. Keys of event mode are left out.
    public var queryParameter: String {
        var writer = CMCDWriter()
        writer.append(self) { $0 != nil }
        return "CMCD=" + PercentCoding.encoded(String(decoding: writer.bytes, as: UTF8.self))
    }

    /// The header fields of request mode, without empty ones. Custom keys stand in `CMCD-Request`; keys of event mode
    /// are left out.
    public var headerFields: [(header: CMCDHeader, value: String)] {
        CMCDHeader.allCases.compactMap { header in
            var writer = CMCDWriter()
            writer.append(self) { $0 == header }
            return writer.bytes.isEmpty ? nil : (header, String(decoding: writer.bytes, as: UTF8.self))
        }
    }
}

/// Writes reports into bytes, and counts what the format did not allow.
package struct CMCDWriter {
    /// The range of integers in structured fields (RFC 9651, section 3.3.1).
    static let integers = -999_999_999_999_999...999_999_999_999_999

    package private(set) var bytes: [UInt8] = []
    package private(set) var alterations: AlterationCounts = [:]

    package init() {}

    /// Appends a line feed, the separator of event reports.
    package mutating func separate() { bytes.append(UInt8(ascii: "\n")) }

    /// Appends the keys of a report whose header passes the filter; keys of event mode have none.
    package mutating func append(_ report: CMCDReport, where isIncluded: (CMCDHeader?) -> Bool = { _ in true }) {
        let start = bytes.count
        for entry in report.entries {
            let rule = CMCDSpecification.keys[entry.key.name]
            let header = rule == nil ? .request : rule?.header
            guard isIncluded(header), !isDefault(entry, in: report), CMCDSyntax.isKey(entry.key.name) else { continue }
            if bytes.count > start { bytes.append(UInt8(ascii: ",")) }
            bytes.append(entry.key.name)
            if entry.value == .boolean(true) { continue }
            bytes.append(UInt8(ascii: "="))
            write(entry.value, rule)
        }
    }

    /// A rate of 1 is only said when the rate became 1.
    private func isDefault(_ entry: CMCDReport.Entry, in report: CMCDReport) -> Bool {
        guard entry.key == .playbackRate, entry.value == .decimal(1) || entry.value == .integer(1) else { return false }
        return report[.event] != .token(CMCDEvent.playbackRate.rawValue)
    }

    private mutating func write(_ value: CMCDValue, _ rule: CMCDSpecification?) {
        switch value {
        case .integer(let number): write(rounded(number, to: rule?.rounding ?? 1))
        case .decimal(let number): write(number)
        case .boolean(let truth): bytes.append(truth ? "?1" : "?0")
        case .string(let text):
            write(text, maxLength: rule == nil ? CMCDSpecification.customMaxLength : rule?.maxLength)
        case .token(let word): write(token: word)
        case .list(let elements):
            bytes.append(UInt8(ascii: "("))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: " ")) }
                write(element.value, rule)
                for parameter in element.parameters { write(parameter) }
            }
            bytes.append(UInt8(ascii: ")"))
        }
    }

    private mutating func write(_ parameter: CMCDValue.Parameter) {
        guard CMCDSyntax.isKey(parameter.name) else { return count(.omittedAttributes) }
        bytes.append(UInt8(ascii: ";"))
        bytes.append(parameter.name)
        if parameter.value == .boolean(true) { return }
        bytes.append(UInt8(ascii: "="))
        write(parameter.value, CMCDSpecification.ofParameters)
    }

    private func rounded(_ number: Int, to step: Int) -> Int {
        if step == 1 { return number }
        let half = number < 0 ? -step / 2 : step / 2
        return number.saturatingAdd(half) / step * step
    }

    private mutating func write(_ number: Int) {
        let inRange = min(max(number, Self.integers.lowerBound), Self.integers.upperBound)
        if inRange != number { count(.roundedNumbers) }
        bytes.append(decimal: inRange)
    }

    /// Three digits behind the point, without zeros at the end.
    private mutating func write(_ number: Double) {
        let thousandths = (number * 1000).rounded()
        guard let whole = Int(exactly: thousandths), whole.magnitude < 1_000_000_000_000_000 else {
            count(.roundedNumbers)
            return write(number < 0 ? Self.integers.lowerBound : Self.integers.upperBound)
        }
        if whole < 0 { bytes.append(UInt8(ascii: "-")) }
        bytes.append(decimal: Int(whole.magnitude / 1000))
        var digits = (whole.magnitude % 1000, 3)
        if digits.0 == 0 { return }
        while digits.0 % 10 == 0 { digits = (digits.0 / 10, digits.1 - 1) }
        bytes.append(UInt8(ascii: "."))
        bytes.append(Int(digits.0).padded(digits.1))
    }

    private mutating func write(token word: String) {
        if CMCDSyntax.isToken(word) { return bytes.append(word) }
        count(.replacedCharacters)
        write(word, maxLength: nil)
    }

    private mutating func write(_ text: String, maxLength: Int?) {
        var text = text
        // Percent-encoding makes a value longer: the limit is that of the encoded value.
        let plain = CMCDSyntax.isPlain(text) ? text : encoded(text)
        text = plain
        if let maxLength, plain.utf8.count > maxLength, let short = plain.shortened(toBytes: maxLength) {
            count(.shortenedTexts)
            text = short
        }
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Printable ASCII stays; every other byte becomes `%XX`.
    private mutating func encoded(_ text: String) -> String {
        count(.replacedCharacters)
        return PercentCoding.encoded(text, keeping: " !\"#$%&'()*+,/:;<=>?@[\\]^`{|}")
    }

    private mutating func count(_ alteration: Alteration) { alterations[alteration, default: 0] += 1 }
}

/// The characters of structured fields (RFC 9651).
enum CMCDSyntax {
    /// Whether a text is a key: a lower-case letter, then lower-case letters, digits and `_ - . *`.
    static func isKey(_ text: some StringProtocol) -> Bool {
        guard let first = text.utf8.first, isLower(first) || first == UInt8(ascii: "*") else { return false }
        return text.utf8.allSatisfy(isKeyByte)
    }

    static func isKeyByte(_ byte: UInt8) -> Bool { isLower(byte) || byte.isDigit || "_-.*".utf8.contains(byte) }

    /// Whether a text is a token: a letter or `*`, then visible characters without separators.
    static func isToken(_ text: some StringProtocol) -> Bool {
        guard let first = text.utf8.first, first.isLetter || first == UInt8(ascii: "*") else { return false }
        return text.utf8.allSatisfy(isTokenByte)
    }

    static func isTokenByte(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || "!#$%&'*+-.^_`|~:/".utf8.contains(byte)
    }

    /// Whether every character is printable ASCII.
    static func isPlain(_ text: some StringProtocol) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } }

    private static func isLower(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte }
}
