internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentJSON

/// Reads the values of a file of JSON: one a line, one over several lines, and those of an array, as a batch for a
/// service or the answer of a service has them.
struct ValueReader: ~Copyable {
    /// The text of a value, and where it begins.
    struct Value {
        var bytes: [UInt8]
        /// The number of the line, from 1.
        var line: Int
        /// The number of the value in its array, from 1; nil outside of arrays.
        var place: Int?

        /// The name of a value without an id: the line, and the place in the array.
        var name: String { place.map { "\(line).\($0)" } ?? String(line) }
    }

    private var reader: LineReader
    /// The member of an object that may have the array.
    private let list: String?
    private var waiting: ArraySlice<Value> = []
    /// Whether values have several lines, which the first one decides; nil before.
    private var isSpread: Bool?

    init(path: String, list: String?) throws {
        reader = try LineReader(path: path)
        self.list = list
    }

    /// Whether `next` neither waits nor fails.
    var hasNextAtHand: Bool { !waiting.isEmpty || reader.hasNextAtHand }

    /// The next value; nil at the end. Lines without a value are skipped.
    mutating func next() throws -> Value? {
        while waiting.isEmpty {
            guard let line = try reader.next() else { return nil }
            if !Self.isBlank(line) { waiting = try values(from: line)[...] }
        }
        return waiting.popFirst()
    }

    private static func isBlank(_ line: [UInt8]) -> Bool { line.allSatisfy { " \t\r".utf8.contains($0) } }

    /// The values of a line, with the following lines if it begins a value that they end.
    private mutating func values(from line: [UInt8]) throws -> [Value] {
        let number = reader.lineNumber
        if isSpread == false { return values(in: line, at: number) }
        var nesting = Nesting()
        nesting.take(line: line)
        isSpread = isSpread ?? (nesting.depth > 0)
        var lines = [line]
        while nesting.depth > 0, let more = try reader.next() {
            nesting.take(line: more)
            lines.append(more)
        }
        let text = Array(lines.joined(separator: "\n".utf8))
        if lines.count == 1 { return values(in: text, at: number) }
        if Self.isJSON(text) { return values(in: text, at: number, isKnownJSON: true) }
        return lines.indices.filter { !Self.isBlank(lines[$0]) }.flatMap { values(in: lines[$0], at: number + $0) }
    }

    private static func isJSON(_ text: [UInt8]) -> Bool { (try? JSONReader.read(text)) != nil }

    private func values(in text: [UInt8], at line: Int, isKnownJSON: Bool = false) -> [Value] {
        guard Self.mayHaveElements(text, list), isKnownJSON || Self.isJSON(text) else {
            return [Value(bytes: text, line: line)]
        }
        var (line, end) = (line, 0)
        return Self.elements(of: text, list).enumerated().map { index, place in
            line += text[end..<place.lowerBound].count { $0 == UInt8(ascii: "\n") }
            end = place.lowerBound
            return Value(bytes: Array(text[place]), line: line, place: index + 1)
        }
    }

    /// Whether a text begins as an array, or as the answer of a service.
    private static func mayHaveElements(_ text: [UInt8], _ list: String?) -> Bool {
        let text = text.drop { $0.isWhitespace }
        guard text.first == UInt8(ascii: "{"), let list else { return text.first == UInt8(ascii: "[") }
        let members = text.dropFirst().drop { $0.isWhitespace }
        return [list, "more"].contains { members.starts(with: "\"\($0)\"".utf8) }
    }

    /// The places of the elements of an array, or of the member `list` of an object, in valid JSON.
    private static func elements(of text: [UInt8], _ list: String?) -> [Range<Int>] {
        var nesting = Nesting()
        var places: [Range<Int>] = []
        // The latest text outside of the values of an object's members, and the depth of the elements.
        var (name, depth, start) = (0..<0, Int?.none, 0)
        for (index, byte) in text.enumerated() {
            let (before, wasInText) = (nesting.depth, nesting.isInText)
            nesting.take(byte)
            if wasInText || nesting.isInText {
                if before == 1, depth == nil { name = wasInText ? name.lowerBound..<index : index + 1..<index + 1 }
                continue
            }
            if byte == UInt8(ascii: "["), depth == nil {
                guard before == 0 || before == 1 && list.map({ text[name].elementsEqual($0.utf8) }) ?? false else {
                    continue
                }
                (depth, start) = (before + 1, index + 1)
            } else if before == depth, byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]") {
                if let place = trimmed(start..<index, of: text) { places.append(place) }
                start = index + 1
                if byte == UInt8(ascii: "]") { break }
            }
        }
        return places
    }

    /// The place without white space around it; nil for white space alone.
    private static func trimmed(_ place: Range<Int>, of text: [UInt8]) -> Range<Int>? {
        guard let first = text[place].firstIndex(where: { !$0.isWhitespace }),
            let last = text[place].lastIndex(where: { !$0.isWhitespace })
        else { return nil }
        return first..<last + 1
    }
}

/// The depth of arrays and objects in a text.
private struct Nesting {
    private(set) var depth = 0
    private(set) var isInText = false
    private var isEscaped = false

    mutating func take(_ byte: UInt8) {
        if isEscaped {
            isEscaped = false
        } else if isInText {
            isEscaped = byte == UInt8(ascii: "\\")
            isInText = byte != UInt8(ascii: "\"")
        } else {
            switch byte {
            case UInt8(ascii: "\""): isInText = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
        }
    }

    /// Takes a line, with which a text ends.
    mutating func take(line: [UInt8]) {
        for byte in line { take(byte) }
        (isInText, isEscaped) = (false, false)
    }
}
