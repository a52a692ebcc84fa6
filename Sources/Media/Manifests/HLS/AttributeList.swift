internal import InstrumentText

/// An attribute list (RFC 8216 section 4.2). A malformed attribute ends the list; unknown names are kept and ignored.
package struct AttributeList: Hashable, Sendable {
    /// A value, and whether it was in quotes.
    package struct Value: Hashable, Sendable {
        /// The value without its quotes.
        package var text: String
        /// Whether the value was in quotes.
        package var isQuoted: Bool
    }

    /// The values by the names of their attributes.
    package private(set) var values: [String: Value] = [:]
    /// Whether a part of the list could not be read.
    package private(set) var isDamaged = false
    /// The first name that occurs twice; nil if each occurs once.
    package private(set) var repeatedName: String?
    /// Whether white space stands around a comma or an equals sign.
    package private(set) var hasSpaces = false

    /// Reads a list, up to its first part that cannot be read.
    package init(_ text: Substring) {
        var rest = text.utf8
        while !rest.isEmpty {
            let separators = rest.prefix { $0 == UInt8(ascii: ",") || $0 <= 0x20 }
            if separators.contains(where: { $0 <= 0x20 }) { hasSpaces = true }
            rest = rest[separators.endIndex...]
            if rest.isEmpty { return }
            guard let equals = rest.firstIndex(of: UInt8(ascii: "=")) else {
                isDamaged = true
                return
            }
            let name = String(Substring(rest[..<equals]).trimmingSpaces)
            if name.utf8.count < rest[..<equals].count { hasSpaces = true }
            rest = rest[rest.index(after: equals)...]
            let behind = rest.drop { $0 <= 0x20 }
            if behind.startIndex != rest.startIndex { (hasSpaces, rest) = (true, behind) }
            guard var value = value(&rest) else {
                isDamaged = true
                return
            }
            if !value.isQuoted, Self.lists.contains(name) { value.text += Self.listRest(&rest) }
            // A name must not occur twice; the first value wins.
            if values[name] == nil { values[name] = value } else { repeatedName = repeatedName ?? name }
            // Behind quotes that do not end a value, nobody knows where the next attribute begins.
            if let next = rest.first, next != UInt8(ascii: ","), next > 0x20 {
                isDamaged = true
                return
            }
        }
    }

    /// Reads a value. Quotes inside of it, which no escape allows, end it only in front of a comma, white space or the
    /// end, as hls.js reads them.
    private mutating func value(_ rest: inout Substring.UTF8View) -> Value? {
        guard rest.first == UInt8(ascii: "\"") else {
            let text = rest.prefix { $0 != UInt8(ascii: ",") }
            rest = rest[text.endIndex...]
            return Value(text: String(Substring(text).trimmingSpaces), isQuoted: false)
        }
        let inner = rest.dropFirst()
        guard let quote = inner.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        let end = Self.isEnd(quote, of: inner) ? quote : inner.indices.first { Self.isEnd($0, of: inner) }
        if end != quote { isDamaged = true }
        let close = end ?? quote
        rest = inner[inner.index(after: close)...]
        return Value(text: String(Substring(inner[..<close])), isQuoted: true)
    }

    /// The attributes whose values are lists with commas, which quotes have to keep together.
    private static let lists: Set<String> = ["CODECS", "SUPPLEMENTAL-CODECS"]

    /// The members of a list without quotes that follow its first one: what is no attribute belongs to the list.
    private static func listRest(_ rest: inout Substring.UTF8View) -> String {
        var members = ""
        while rest.first == UInt8(ascii: ",") {
            let member = rest.dropFirst().prefix { $0 != UInt8(ascii: ",") }
            guard !member.isEmpty, !member.contains(UInt8(ascii: "=")) else { break }
            members += "," + Substring(member).trimmingSpaces
            rest = rest[member.endIndex...]
        }
        return members
    }

    /// Whether a place has the quotes that end a value.
    private static func isEnd(_ place: Substring.UTF8View.Index, of text: Substring.UTF8View) -> Bool {
        guard text[place] == UInt8(ascii: "\"") else { return false }
        let next = text[text.index(after: place)...].first
        return next.map { $0 == UInt8(ascii: ",") || $0 <= 0x20 } ?? true
    }

    /// The text of a value; nil if the attribute is absent.
    package subscript(name: String) -> String? { values[name]?.text }

    /// Whether the value is `YES`.
    func isYes(_ name: String) -> Bool { values[name]?.text == "YES" }

    func integer(_ name: String) -> Int64? { self[name].flatMap(DecimalText.integer) }

    func nanoseconds(_ name: String) -> Int64? { self[name].flatMap(DecimalText.nanoseconds) }

    /// `1920x1080`.
    func resolution(_ name: String) -> Resolution? {
        self[name].flatMap { Resolution(text: $0) }
    }

    /// Returns the same list with variables substituted in quoted strings and hexadecimal sequences.
    func substituting(_ variables: inout VariableTable, line: Int) throws(ManifestError) -> AttributeList {
        guard values.values.contains(where: { $0.text.contains("{$") }) else { return self }
        var result = self
        for (name, value) in values where value.text.contains("{$") {
            result.values[name]?.text = try variables.substitute(value.text, line: line)
        }
        return result
    }
}

extension Resolution {
    /// Reads a decimal resolution (RFC 8216 section 4.2); nil for another text.
    package init?(text: String) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2, let width = parts.first.flatMap(DecimalText.integer), width <= 1 << 20,
            let height = parts.last.flatMap(DecimalText.integer), height <= 1 << 20
        else { return nil }
        self.init(width: Int(width), height: Int(height))
    }
}
