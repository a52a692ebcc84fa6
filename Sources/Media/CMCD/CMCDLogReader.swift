internal import Instrument
internal import InstrumentText

/// Finds CMCD in the lines of a log, and validates it.
///
/// A line is one of these:
/// - an access log's, with the parameter `CMCD` in the query of an address;
/// - a header field (`CMCD-Request: …`); fields in a row belong to one request;
/// - a record of an event report.
package struct CMCDLogReader: Sendable {
    /// The verdict on a report.
    package struct Verdict: Hashable, Sendable {
        /// The number of the line, from 1; of several header fields the first.
        package var line: Int
        /// How the report was transported.
        package var mode: CMCDValidator.Mode
        /// The broken rules; a valid report has warnings only.
        package var findings: [CMCDFinding]
        /// Whether the report breaks no rule that it must keep.
        package var isValid: Bool { !findings.contains { $0.severity == .error } }
    }

    private var validator = CMCDValidator()
    private var fields: [(header: CMCDHeader, value: String)] = []
    private var fieldsLine = 0
    private var line = 0

    /// Creates a reader at the first line.
    package init() {}

    /// The verdicts that a line completes: of the header fields before the line, and of the reports in the line.
    package mutating func read(_ text: String) -> [Verdict] {
        line += 1
        if let field = Self.headerField(text) {
            let before = fields.contains { $0.header == field.header } ? finish() : []
            if fields.isEmpty { fieldsLine = line }
            fields.append(field)
            return before
        }
        var verdicts = finish()
        let queries = Self.queries(in: text)
        for query in queries {
            verdicts.append(Verdict(line: line, mode: .query, findings: validator.findings(inQuery: query)))
        }
        if queries.isEmpty, Self.isRecord(text) {
            verdicts.append(
                Verdict(
                    line: line,
                    mode: .event,
                    findings: validator.findings(inEvent: String(text.trimmingWhitespace))
                )
            )
        }
        return verdicts
    }

    /// The verdict on header fields at the end of the log.
    package mutating func finish() -> [Verdict] {
        if fields.isEmpty { return [] }
        defer { fields = [] }
        return [Verdict(line: fieldsLine, mode: .header, findings: validator.findings(inHeaders: fields))]
    }

    private static func headerField(_ text: String) -> (header: CMCDHeader, value: String)? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let name = text[..<colon].trimmingWhitespace.lowercased()
        guard let header = CMCDHeader.allCases.first(where: { $0.rawValue.lowercased() == name }) else { return nil }
        return (header, String(text[text.index(after: colon)...].trimmingWhitespace))
    }

    /// The values of every parameter `CMCD` in a line.
    private static func queries(in text: String) -> [String] {
        let (bytes, name) = (Array(text.utf8), Array("CMCD=".utf8))
        var (values, place) = ([String](), 0)
        while place + name.count <= bytes.count {
            let isParameter =
                place > 0 && (bytes[place - 1] == UInt8(ascii: "?") || bytes[place - 1] == UInt8(ascii: "&"))
            guard isParameter, bytes[place..<(place + name.count)].elementsEqual(name) else {
                place += 1
                continue
            }
            let value = bytes[(place + name.count)...].prefix { $0 > 0x20 && !"&#\"'<>".utf8.contains($0) }
            values.append(String(decoding: value, as: UTF8.self))
            place += name.count + value.count
        }
        return values
    }

    /// Whether a line looks like a record: a key first, with a value or with another key behind it.
    private static func isRecord(_ text: String) -> Bool {
        let text = String(text.trimmingWhitespace)
        let key = text.utf8.prefix(while: CMCDSyntax.isKeyByte)
        guard !key.isEmpty, let next = text.utf8.dropFirst(key.count).first else { return false }
        return next == UInt8(ascii: "=") || next == UInt8(ascii: ",")
    }
}
