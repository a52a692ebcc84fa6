internal import Instrument

/// Walks through JSON (RFC 8259) without creating values, for code that accepts most texts as they are.
///
/// Stops at all that is not plain: a broken rule, but also an escape of a name or a deep nesting. The caller then reads
/// the text with ``JSONReader``, which decides. What the scanner accepts, the reader accepts, too. The memory has to
/// outlive the scanner.
package struct JSONScanner {
    /// A text in quotes.
    package struct Text {
        /// The bytes between the quotes.
        package let bytes: UnsafeBufferPointer<UInt8>
        /// Whether the bytes are the text: ASCII without escapes.
        package let isPlain: Bool

        /// The text; only for a plain one.
        package var string: String { String(decoding: bytes, as: UTF8.self) }
    }

    /// Deeper nesting is left to the reader.
    private static var maxDepth: Int { 32 }
    /// Longer numbers are left to the reader: they may be beyond the range of numbers.
    private static var longestNumber: Int { 300 }

    private let start: UnsafePointer<UInt8>
    private let count: Int
    private var place = 0

    /// Creates a scanner at the beginning of a text; nil for an empty one.
    package init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return nil }
        (self.start, count) = (start, bytes.count)
    }

    /// Whether nothing but white space follows.
    package mutating func isAtEnd() -> Bool {
        skipSpace()
        return place == count
    }

    /// The next byte after white space; zero at the end.
    package mutating func next() -> UInt8 {
        skipSpace()
        return place < count ? start[place] : 0
    }

    /// Takes a byte after white space, if it is the next one.
    @inline(__always)
    package mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard place < count, start[place] == byte else { return false }
        place += 1
        return true
    }

    @inline(__always)
    private mutating func skipSpace() {
        while place < count, start[place] <= 0x20, start[place].isWhitespace { place += 1 }
    }

    /// Takes a text in quotes; nil for anything else, and for a text that the reader has to judge.
    package mutating func text() -> Text? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let first = place
        var (highBits, hasEscape) = (UInt8(0), false)
        while true {
            skipPlainText()
            guard place < count else { return nil }
            let byte = start[place]
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\") {
                guard isSimpleEscape() else { return nil }
                hasEscape = true
                place += 2
            } else {
                guard byte >= 0x80 else { return nil }
                highBits |= byte
                place += 1
            }
        }
        let bytes = UnsafeBufferPointer(start: start + first, count: place - first)
        place += 1
        if highBits != 0, String(validUTF8: UnsafeRawBufferPointer(bytes)) == nil { return nil }
        return Text(bytes: bytes, isPlain: highBits == 0 && !hasEscape)
    }

    /// Moves to the first byte that is a quote, a backslash, a control character or not ASCII.
    @inline(__always)
    private mutating func skipPlainText() {
        let bytes = UnsafeRawPointer(start)
        while place + 8 <= count {
            let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            if word.hasStringEnd || word & 0x8080_8080_8080_8080 != 0 { break }
            place += 8
        }
        while place < count, Self.isPlain(start[place]) { place += 1 }
    }

    @inline(__always)
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// Whether the backslash here begins an escape of two characters.
    private func isSimpleEscape() -> Bool {
        guard place + 1 < count else { return false }
        switch start[place + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return true
        default: return false
        }
    }

    /// Takes `true` or `false`.
    package mutating func truth() -> Bool {
        switch next() {
        case UInt8(ascii: "t"): word("true")
        case UInt8(ascii: "f"): word("false")
        default: false
        }
    }

    private mutating func word(_ word: StaticString) -> Bool {
        let length = word.utf8CodeUnitCount
        guard count - place >= length else { return false }
        for index in 0..<length where start[place + index] != word.utf8Start[index] { return false }
        place += length
        return true
    }

    /// Takes a number without an exponent.
    package mutating func number() -> Bool {
        skipSpace()
        let first = place
        if place < count, start[place] == UInt8(ascii: "-") { place += 1 }
        let whole = place
        guard digits() else { return false }
        if start[whole] == UInt8(ascii: "0"), place > whole + 1 { return false }
        if place < count, start[place] == UInt8(ascii: ".") {
            place += 1
            guard digits() else { return false }
        }
        if place < count, start[place] | 0x20 == UInt8(ascii: "e") { return false }
        return place - first <= Self.longestNumber
    }

    private mutating func digits() -> Bool {
        let first = place
        while place < count, start[place].isDigit { place += 1 }
        return place > first
    }

    /// Takes any value.
    package mutating func value(depth: Int = 0) -> Bool {
        guard depth < Self.maxDepth else { return false }
        switch next() {
        case UInt8(ascii: "\""): return text() != nil
        case UInt8(ascii: "{"):
            return object { scanner, name in name.isPlain && scanner.value(depth: depth + 1) }
        case UInt8(ascii: "["): return array { $0.value(depth: depth + 1) }
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return truth()
        case UInt8(ascii: "n"): return word("null")
        default: return number()
        }
    }

    /// Takes an object; `member` takes the value of each member.
    @inline(__always)
    package mutating func object(_ member: (inout JSONScanner, Text) -> Bool) -> Bool {
        guard take(UInt8(ascii: "{")) else { return false }
        if take(UInt8(ascii: "}")) { return true }
        repeat {
            guard let name = text(), take(UInt8(ascii: ":")), member(&self, name) else { return false }
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "}"))
    }

    /// Takes an array; `element` takes each element.
    @inline(__always)
    package mutating func array(_ element: (inout JSONScanner) -> Bool) -> Bool {
        guard take(UInt8(ascii: "[")) else { return false }
        if take(UInt8(ascii: "]")) { return true }
        repeat {
            guard element(&self) else { return false }
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "]"))
    }
}
