internal import Instrument
internal import InstrumentText

/// Reads JSON (RFC 8259), strictly, from bytes that may be anything.
///
/// Written by hand because `JSONDecoder` and `JSONSerialization` do not tell 1 from 1.0, and a round trip has to.
package struct JSONReader {
    /// Deeper nesting is refused: it would use up the stack.
    private static var maxDepth: Int { 128 }

    private let bytes: [UInt8]
    private var offset = 0
    private var hasRepeatedNames = false
    /// The members of the objects that are not complete yet: a dictionary of the right size is made at an object's end.
    private var members: [(name: String, value: JSONValue)] = []

    /// Reads one value and nothing after it.
    package static func read(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
        var ignored = false
        return try read(bytes, hasRepeatedNames: &ignored)
    }

    /// Reads one value and nothing after it, and notes whether an object has two members with one name.
    package static func read(_ bytes: [UInt8], hasRepeatedNames: inout Bool) throws(JSONError) -> JSONValue {
        var reader = JSONReader(bytes: bytes)
        defer { hasRepeatedNames = reader.hasRepeatedNames }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            throw reader.error("a byte order mark (EF BB BF) stands before the value; remove it", .byteOrderMark)
        }
        reader.skipSpace()
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        if reader.offset < bytes.count {
            throw reader.error(
                "expected the end of the text after the value (found \(reader.found)); remove what follows"
            )
        }
        return value
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private func error(_ message: String, _ code: JSONError.Code = .syntax) -> JSONError {
        JSONError(code: code, message: message, offset: offset)
    }

    /// The next byte, for an error.
    private var found: String {
        guard let byte = next else { return "the end of the text" }
        return (0x21...0x7E).contains(byte) ? "`\(Character(Unicode.Scalar(byte)))`" : Self.hexadecimal(byte)
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        "the byte 0x" + byte.padded(2, radix: 16, uppercase: true)
    }

    /// The error for a text that has bytes from `start` on that are not UTF-8: it names the first one.
    private func invalidUTF8(from start: Int) -> JSONError {
        var place = start
        while place < bytes.count {
            let length = (1...4).first { String(validating: bytes[place...].prefix($0), as: UTF8.self) != nil }
            guard let length else { break }
            place += length
        }
        let byte = place < bytes.count ? Self.hexadecimal(bytes[place]) : "an incomplete character"
        let message = "\(byte) is not part of a character in UTF-8; encode the text in UTF-8"
        return JSONError(code: .invalidUTF8, message: message, offset: place)
    }

    private mutating func skipSpace() {
        while let byte = next, byte.isWhitespace { offset += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        offset += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        if depth > Self.maxDepth {
            throw error("arrays and objects are nested more than \(Self.maxDepth) deep; nest them less", .nesting)
        }
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case nil: throw error("expected a value (found the end of the text)")
        default: return try number()
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        let isWord = word.withUTF8Buffer { expected in bytes[offset...].starts(with: expected) }
        guard isWord else { throw error("expected `\(word)` (found another word that begins with \(found))") }
        offset += word.utf8CodeUnitCount
        return value
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSONValue {
        offset += 1
        let first = members.count
        skipSpace()
        if take(UInt8(ascii: "}")) { return .object([:]) }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw error("expected a name in quotes (found \(found))") }
            let start = offset
            let name = try string()
            guard name.isStreamSafe else {
                offset = start
                let most = String.mostCombiningMarks
                throw error(
                    "a name has more than \(most) combining marks on one character; shorten it",
                    .combiningMarks
                )
            }
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw error("expected `:` after the name (found \(found))") }
            skipSpace()
            members.append((name, try value(depth: depth + 1)))
            skipSpace()
            if take(UInt8(ascii: "}")) { return .object(takeMembers(from: first)) }
            guard take(UInt8(ascii: ",")) else { throw error("expected `,` or `}` (found \(found))") }
        }
    }

    /// The members from the place `first` on, which are those of the object that ends here.
    private mutating func takeMembers(from first: Int) -> [String: JSONValue] {
        var object = [String: JSONValue](minimumCapacity: members.count - first)
        // The last comes first, so that members are moved.
        while members.count > first {
            let member = members.removeLast()
            if let later = object.updateValue(member.value, forKey: member.name) {
                object[member.name] = later
                hasRepeatedNames = true
            }
        }
        return object
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSONValue {
        offset += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            skipSpace()
            elements.append(try value(depth: depth + 1))
            skipSpace()
            if take(UInt8(ascii: "]")) { return .array(elements) }
            guard take(UInt8(ascii: ",")) else { throw error("expected `,` or `]` (found \(found))") }
        }
    }

    private mutating func string() throws(JSONError) -> String {
        let start = offset
        offset += 1
        let end = endOfPlainText()
        if end < bytes.count, bytes[end] == UInt8(ascii: "\"") {
            // Most strings have no escape, and are read at once.
            let string = bytes.withUnsafeBytes { String(validUTF8: UnsafeRawBufferPointer(rebasing: $0[offset..<end])) }
            guard let string else { throw invalidUTF8(from: start) }
            offset = end + 1
            return string
        }
        var text = Array(bytes[offset..<end])
        offset = end
        while let byte = next {
            if byte < 0x20 {
                throw error("a string contains \(found), a control character; write it as \\u00XX")
            }
            offset += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else { throw invalidUTF8(from: start) }
                return string
            case UInt8(ascii: "\\"): try escape(into: &text)
            default: text.append(byte)
            }
        }
        throw error("a string has no closing quote; add one")
    }

    /// The place of the first quote, backslash or control character from here on.
    private func endOfPlainText() -> Int {
        bytes.withUnsafeBytes { bytes in
            var place = offset
            while place + 8 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                if word.hasStringEnd { break }
                place += 8
            }
            while place < bytes.count, !Self.endsPlainText(bytes[place]) { place += 1 }
            return place
        }
    }

    private static func endsPlainText(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
        guard let byte = next else { throw error("a string has no closing quote; add one") }
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: String(try escapedScalar()).utf8)
        default:
            offset -= 1
            throw error("a string contains an unknown escape: `\\` before \(found)")
        }
    }

    /// `\uXXXX`, or two of them for what lies beyond 16 bits (RFC 8259, section 7).
    private mutating func escapedScalar() throws(JSONError) -> Unicode.Scalar {
        let first = try hexadecimal()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw error("an escape is half of a surrogate pair; write both halves")
        }
        let second = try hexadecimal()
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
        else { throw error("an escape is half of a surrogate pair; write both halves") }
        return scalar
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt16 {
        var number: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = byte.hexDigitValue else {
                throw error("expected four hexadecimal digits after `\\u` (found \(found))")
            }
            number = number << 4 | UInt16(digit)
            offset += 1
        }
        return number
    }

    /// A number with a point or an exponent is a floating-point one, and so is an integer beyond 64 bits.
    private mutating func number() throws(JSONError) -> JSONValue {
        let start = offset
        var isInteger = true
        if let byte = next, byte != UInt8(ascii: "-"), !byte.isDigit {
            if byte >= 0x80 { throw invalidUTF8OrStray() }
            throw error("expected a value (found \(found))")
        }
        _ = take(UInt8(ascii: "-"))
        if take(UInt8(ascii: "0")) {
            if let byte = next, byte.isDigit { throw error("a number must not have leading zeros; remove the zero") }
        } else {
            try digits()
        }
        if take(UInt8(ascii: ".")) {
            isInteger = false
            try digits()
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isInteger = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        if isInteger, let value = shortInteger(from: start) { return .int(value) }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        if isInteger, let value = Int(text) { return .int(value) }
        guard let value = Double(text), value.isFinite else {
            offset = start
            let message = "the number \(text.excerpt()) is beyond the range of 64-bit floating-point numbers"
            throw error(message + "; its magnitude must be below 1.8e308", .numberRange)
        }
        return .double(value)
    }

    /// The integer of at most 18 digits from `start` to here; nil for a longer one.
    private func shortInteger(from start: Int) -> Int? {
        let isNegative = bytes[start] == UInt8(ascii: "-")
        let digits = bytes[(isNegative ? start + 1 : start)..<offset]
        guard digits.count <= 18 else { return nil }
        var value = 0
        for digit in digits { value = value * 10 + Int(digit & 15) }
        return isNegative ? -value : value
    }

    /// A byte beyond ASCII where a value should be: part of a character, or not even that.
    private func invalidUTF8OrStray() -> JSONError {
        let isCharacter = (1...4).contains { String(validating: bytes[offset...].prefix($0), as: UTF8.self) != nil }
        return isCharacter ? error("expected a value (found \(found))") : invalidUTF8(from: offset)
    }

    private mutating func digits() throws(JSONError) {
        guard let first = next, first.isDigit else { throw error("expected a digit (found \(found))") }
        while let byte = next, byte.isDigit { offset += 1 }
    }
}

extension UInt64 {
    /// Whether one of the eight bytes is a quote, a backslash or below 0x20: a byte is zero where `x - 1 & ~x` has its
    /// high bit.
    @inline(__always)
    var hasStringEnd: Bool {
        let (ones, highs): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        let (quote, backslash) = (self ^ ones &* 0x22, self ^ ones &* 0x5C)
        let isQuote = (quote &- ones) & ~quote
        let isBackslash = (backslash &- ones) & ~backslash
        let isControl = (self &- ones &* 0x20) & ~self
        return (isQuote | isBackslash | isControl) & highs != 0
    }
}
