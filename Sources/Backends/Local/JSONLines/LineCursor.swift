internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Reads the tokens of a line from memory that outlives the cursor. Every step checks the end of the line.
struct LineCursor {
    private var next: UnsafePointer<UInt8>
    private let end: UnsafePointer<UInt8>

    /// Creates a cursor at the beginning of a line; nil for an empty line.
    init?(_ line: UnsafeBufferPointer<UInt8>) {
        guard let start = line.baseAddress, line.count > 0 else { return nil }
        next = start
        end = start + line.count
    }

    /// Whether nothing follows.
    var isAtEnd: Bool { next == end }

    /// The rest of the line begins here.
    var position: UnsafePointer<UInt8> { next }

    /// The next byte, which stays; nil at the end.
    var peek: UInt8? { next < end ? next.pointee : nil }

    /// The bytes from a position that this cursor had up to here.
    func bytes(from start: UnsafePointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: start, count: next - start)
    }

    /// Skips these bytes; false, without a step, if others follow.
    @inline(__always)
    mutating func take(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard end - next >= count, memcmp(next, text.utf8Start, count) == 0 else { return false }
        next += count
        return true
    }

    /// Skips these bytes; false, without a step, if others follow.
    @inline(__always)
    mutating func take(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = text.baseAddress, end - next >= text.count, memcmp(next, start, text.count) == 0 else {
            return false
        }
        next += text.count
        return true
    }

    /// Skips this byte; false, without a step, if another follows.
    @inline(__always)
    mutating func take(_ byte: UInt8) -> Bool {
        guard next < end, next.pointee == byte else { return false }
        next += 1
        return true
    }

    /// Takes the text up to the closing quote, and the quote; nil if the text needs to be unescaped or has no quote.
    @inline(__always)
    mutating func text() -> UnsafeBufferPointer<UInt8>? {
        let start = next
        var place = next
        // Eight bytes at a time, while none of them is a quote, a backslash or a control character.
        while end - place >= 8 {
            let word = UnsafeRawPointer(place).loadUnaligned(as: UInt64.self)
            if Self.hasSpecial(word) { break }
            place += 8
        }
        while place < end {
            let byte = place.pointee
            if byte == UInt8(ascii: "\"") {
                next = place + 1
                return UnsafeBufferPointer(start: start, count: place - start)
            }
            if byte == UInt8(ascii: "\\") || byte < 0x20 { return nil }
            place += 1
        }
        return nil
    }

    /// Whether a byte of a word is a quote, a backslash or below 0x20 (a byte is zero where `x - 1 & ~x` has its high
    /// bit).
    @inline(__always)
    private static func hasSpecial(_ word: UInt64) -> Bool {
        let (ones, highs): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        let (quote, backslash) = (word ^ ones &* 0x22, word ^ ones &* 0x5C)
        let isQuote = (quote &- ones) & ~quote
        let isBackslash = (backslash &- ones) & ~backslash
        let isControl = (word &- ones &* 0x20) & ~word
        return (isQuote | isBackslash | isControl) & highs != 0
    }

    /// Takes this text and its closing quote; false, without a step, if another text follows. The text has neither
    /// quote nor escape.
    @inline(__always)
    mutating func takeText(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard end - next > text.count, next[text.count] == UInt8(ascii: "\"") else { return false }
        if let start = text.baseAddress, memcmp(next, start, text.count) != 0 { return false }
        next += text.count + 1
        return true
    }

    /// Takes a whole number of at most 18 digits without leading zeros; nil, without a step, if a longer or another
    /// number follows.
    @inline(__always)
    mutating func integer() -> Int? {
        var place = next
        let isNegative = place < end && place.pointee == UInt8(ascii: "-")
        if isNegative { place += 1 }
        let first = place
        var value = 0
        while place < end, case let digit = place.pointee &- UInt8(ascii: "0"), digit < 10, place - first < 19 {
            value = value &* 10 &+ Int(digit)
            place += 1
        }
        let count = place - first
        guard count > 0, count < 19, count == 1 || first.pointee != UInt8(ascii: "0"), place < end else { return nil }
        // A fraction or an exponent makes another kind of number.
        guard place.pointee == UInt8(ascii: ",") || place.pointee == UInt8(ascii: "}") else { return nil }
        next = place
        return isNegative ? -value : value
    }

    /// Takes the bytes of which numbers are made.
    mutating func numberToken() -> UnsafeBufferPointer<UInt8> {
        let start = next
        while next < end {
            let byte = next.pointee
            let isPart =
                byte.isDigit || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
                || byte | 0x20 == UInt8(ascii: "e")
            if !isPart { break }
            next += 1
        }
        return bytes(from: start)
    }

    /// Takes `count` hexadecimal digits, at most 16; nil if other bytes follow.
    @inline(__always)
    mutating func hexadecimal(_ count: Int) -> UInt64? {
        guard end - next >= count else { return nil }
        var value: UInt64 = 0
        for offset in 0..<count {
            let byte = next[offset]
            let (decimal, letter) = (byte &- UInt8(ascii: "0"), (byte | 0x20) &- UInt8(ascii: "a"))
            guard decimal < 10 || letter < 6 else { return nil }
            value = value << 4 | UInt64(decimal < 10 ? decimal : letter + 10)
        }
        next += count
        return value
    }
}
