internal import Instrument
internal import InstrumentJSON

/// An answer of InfluxDB that refuses points, as far as the answer names them.
///
/// - 1.x and 2: `partial write: unable to parse 'LINE': WHY\nunable to parse 'LINE': WHY dropped=0`; or `partial write:
///   field type conflict: input field "F" on measurement "M" is type float, already exists as type integer dropped=2`.
///   Without "partial write" nothing was written.
/// - 3: `{"error": "partial write of line protocol occurred", "data": [{"line_number": 2, "error_message": WHY}]}`.
struct WriteRejection {
    private let message: String
    private let numbered: [(line: Int, reason: String)]

    init?(_ body: [UInt8]) {
        guard let json = try? JSONValue(parsing: body) else { return nil }
        message = json["error"]?.string ?? json["message"]?.string ?? ""
        guard case .array(let entries)? = json["data"] else {
            numbered = []
            return
        }
        numbered = entries.compactMap { entry in
            entry["line_number"]?.int.map { ($0, entry["error_message"]?.string ?? "") }
        }
    }

    /// Whether the points that are not named were written.
    var isPartial: Bool { message.utf8.starts(with: "partial write".utf8) || message.contains(": partial write") }

    /// The samples of the named points with the server's words; empty unless the answer names every refused point,
    /// which leaves the search to the queue.
    func rejected(among lines: [WrittenLine], of body: [UInt8]) -> [SampleID: String] {
        if !numbered.isEmpty { return byNumber(lines) }
        if message.contains("field type conflict") { return byType(lines, body) }
        return byText(lines, body)
    }

    private func byNumber(_ lines: [WrittenLine]) -> [SampleID: String] {
        var rejected: [SampleID: String] = [:]
        for (line, reason) in numbered {
            guard line > 0, lines.indices.contains(line - 1) else { return [:] }
            rejected[lines[line - 1].id] = reason
        }
        return rejected
    }

    /// The line stands in single quotes, as it was sent.
    private func byText(_ lines: [WrittenLine], _ body: [UInt8]) -> [SampleID: String] {
        let refusals = message.split(on: "unable to parse '").dropFirst()
        if refusals.isEmpty || droppedCount > 0 { return [:] }
        let ids = Dictionary(grouping: lines) { body[$0.range] }.mapValues { $0.map(\.id) }
        var rejected: [SampleID: String] = [:]
        for refusal in refusals {
            guard let (line, words) = Self.quoted(refusal, isLine: { ids[$0] != nil }) else { continue }
            for id in ids[line] ?? [] { rejected[id] = "unable to parse: " + words }
        }
        return rejected.count == refusals.count ? rejected : [:]
    }

    /// A line may have quotes itself: this number of them are tried.
    private static let mostQuotes = 100

    /// The line before the closing quote of a refusal, and the server's words behind it.
    private static func quoted(_ refusal: Substring, isLine: (ArraySlice<UInt8>) -> Bool) -> (
        ArraySlice<UInt8>, String
    )? {
        let (bytes, end) = (Array(refusal.utf8), Array("': ".utf8))
        var place = 0
        for _ in 0..<mostQuotes {
            guard let found = bytes[place...].firstRange(of: end) else { return nil }
            if isLine(bytes[..<found.lowerBound]) {
                let words = bytes[found.upperBound...].prefix { $0 != UInt8(ascii: "\n") }
                return (bytes[..<found.lowerBound], String(decoding: words, as: UTF8.self))
            }
            place = found.lowerBound + 1
        }
        return nil
    }

    /// The answer names one field of one measurement; the points that have the field with that type were dropped, if
    /// they are as many as the answer counts.
    private func byType(_ lines: [WrittenLine], _ body: [UInt8]) -> [SampleID: String] {
        guard let field = message.quoted(behind: "input field "), let type = message.word(behind: " is type "),
            let measurement = message.quoted(behind: "on measurement ")
        else { return [:] }
        let start = EscapedName(measurement, escapesEquals: false).bytes
        let name = EscapedName(field, escapesEquals: true).bytes
        var rejected: [SampleID: String] = [:]
        for line in lines {
            let bytes = body[line.range]
            guard bytes.starts(with: start), LineFields(bytes).type(of: name) == type else { continue }
            rejected[line.id] = message
        }
        return rejected.count == droppedCount ? rejected : [:]
    }

    /// The number behind `dropped=`; 0 without one.
    private var droppedCount: Int { message.word(behind: " dropped=").flatMap { Int($0) } ?? 0 }
}

extension String {
    /// The pieces between the occurrences of `part`.
    fileprivate func split(on part: String) -> [Substring] {
        var (parts, rest) = ([Substring](), self[...])
        while let range = rest.bytes(of: part) {
            parts.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        return parts + [rest]
    }

    /// The word behind `part`, up to a space, a comma or a line end.
    fileprivate func word(behind part: String) -> String? {
        guard let range = self[...].bytes(of: part) else { return nil }
        let word = self[range.upperBound...].prefix { $0 != " " && $0 != "," && $0 != "\n" }
        return word.isEmpty ? nil : String(word)
    }

    /// The text in double quotes that follows `part`.
    fileprivate func quoted(behind part: String) -> String? {
        guard let range = self[...].bytes(of: part + "\"") else { return nil }
        let rest = self[range.upperBound...]
        return rest.firstIndex(of: "\"").map { String(rest[..<$0]) }
    }
}

extension Substring {
    /// The offsets of the bytes of `part`.
    fileprivate func bytes(of part: String) -> Range<Substring.Index>? { utf8.firstRange(of: Array(part.utf8)) }
}

/// The fields of a line that the encoder has written.
private struct LineFields {
    private let bytes: [UInt8]

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = Array(bytes) }

    /// InfluxDB's name of a field's type; nil if the line does not have the field.
    func type(of name: [UInt8]) -> String? {
        var place = fieldsStart
        while place < bytes.count {
            let end = self.end(of: name, at: place)
            let value = end ?? valueStart(from: place)
            let next = valueEnd(from: value)
            if end != nil { return Self.type(of: bytes[value..<next]) }
            if next >= bytes.count || bytes[next] != UInt8(ascii: ",") { return nil }
            place = next + 1
        }
        return nil
    }

    private var fieldsStart: Int {
        var place = 0
        while place < bytes.count, bytes[place] != UInt8(ascii: " ") {
            place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(place + 1, bytes.count)
    }

    /// The offset of the value, if the field at `place` has that name.
    private func end(of name: [UInt8], at place: Int) -> Int? {
        let end = place + name.count
        guard end < bytes.count, bytes[end] == UInt8(ascii: "="), bytes[place..<end].elementsEqual(name) else {
            return nil
        }
        return end + 1
    }

    private func valueStart(from place: Int) -> Int {
        var place = place
        while place < bytes.count, bytes[place] != UInt8(ascii: "=") {
            place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(place + 1, bytes.count)
    }

    private func valueEnd(from start: Int) -> Int {
        var (place, isQuoted) = (start, false)
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\"") where place == start: isQuoted = true
            case UInt8(ascii: "\\") where isQuoted: place += 1
            case UInt8(ascii: "\""): isQuoted = false
            case UInt8(ascii: ","), UInt8(ascii: " "): if !isQuoted { return place }
            default: break
            }
            place += 1
        }
        return bytes.count
    }

    private static func type(of value: ArraySlice<UInt8>) -> String {
        switch value.last {
        case UInt8(ascii: "\""): "string"
        case UInt8(ascii: "i"): "integer"
        case UInt8(ascii: "t"), UInt8(ascii: "f"): "boolean"
        default: "float"
        }
    }
}
