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
        guard end - next >= count, Self.areSame(next, text.utf8Start, count) else { return false }
        next += count
        return true
    }

    /// Skips these bytes; false, without a step, if others follow.
    @inline(__always)
    mutating func take(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = text.baseAddress, end - next >= text.count, Self.areSame(next, start, text.count) else {
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
            let word = UnsafeRawPointer(place).word(at: 0)
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
        if let start = text.baseAddress, !Self.areSame(next, start, text.count) { return false }
        next += text.count + 1
        return true
    }

    /// Takes this number; false, without a step, if another number or something else follows.
    mutating func takeNumber(_ number: UnsafeBufferPointer<UInt8>) -> Bool {
        let count = number.count
        guard end - next > count, let start = number.baseAddress, Self.areSame(next, start, count) else { return false }
        guard next[count] == UInt8(ascii: ",") || next[count] == UInt8(ascii: "}") else { return false }
        next += count
        return true
    }

    /// Whether both hold the same `count` bytes. Names and texts are short: a call of `memcmp` costs more.
    @inline(__always)
    static func areSame(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        let (left, right) = (UnsafeRawPointer(left), UnsafeRawPointer(right))
        if count >= 8 {
            var place = 0
            while place + 8 < count {
                if left.word(at: place) != right.word(at: place) { return false }
                place += 8
            }
            // The last word overlaps the one before.
            return left.word(at: count - 8) == right.word(at: count - 8)
        }
        for place in 0..<count {
            let byte = left.load(fromByteOffset: place, as: UInt8.self)
            if byte != right.load(fromByteOffset: place, as: UInt8.self) { return false }
        }
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
        if end - place >= 8 {
            // Up to eight digits at once.
            let digits = EightBytes(UnsafeRawPointer(place).word(at: 0))
            value = digits.number
            place += digits.digitCount
        }
        let limit = place == first || place - first == 8 ? first + min(19, end - first) : place
        while place < limit, case let digit = place.pointee &- UInt8(ascii: "0"), digit < 10 {
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

    /// Takes a UUID in its usual form, 32 hexadecimal digits with hyphens; nil, without a step, if another text
    /// follows.
    @inline(__always)
    mutating func identifier() -> (high: UInt64, low: UInt64)? {
        let (start, hyphen) = (UnsafeRawPointer(next), UInt8(ascii: "-"))
        guard end - next >= 36, next[8] == hyphen, next[13] == hyphen, next[18] == hyphen, next[23] == hyphen,
            let a = HexadecimalDigits(start.word(at: 0)).number,
            let b = HexadecimalDigits(start.word(joining: 9, and: 14)).number,
            let c = HexadecimalDigits(start.word(joining: 19, and: 24)).number,
            let d = HexadecimalDigits(start.word(at: 28)).number
        else { return nil }
        next += 36
        return (a << 32 | b, c << 32 | d)
    }
}

/// Eight bytes of a text that may begin with digits.
private struct EightBytes {
    /// The number of digits at the beginning.
    let digitCount: Int
    /// The number that these digits are; zero without a digit.
    let number: Int

    @inline(__always)
    init(_ word: UInt64) {
        // The first byte of the text is the lowest one. Digits become 0 to 9; of any other byte, the high bit is set in
        // `others`, and what an addition carries is above that byte.
        let values = word ^ 0x3030_3030_3030_3030
        let others = ((values &+ 0x7676_7676_7676_7676) | values) & 0x8080_8080_8080_8080
        digitCount = others.trailingZeroBitCount >> 3
        if digitCount == 0 {
            number = 0
            return
        }
        // Zeros come before the digits. Then pairs of digits, of pairs and of fours become numbers, each time all at
        // once.
        var digits = values &<< UInt64(64 - 8 * digitCount)
        digits = (digits &* 10 &+ (digits >> 8)) & 0x00FF_00FF_00FF_00FF
        digits = (digits &* 100 &+ (digits >> 16)) & 0x0000_FFFF_0000_FFFF
        digits = (digits &* 10_000 &+ (digits >> 32)) & 0xFFFF_FFFF
        number = Int(digits)
    }
}

/// Eight bytes that may be hexadecimal digits.
private struct HexadecimalDigits {
    /// The number that the digits are; nil if a byte is no digit.
    let number: UInt64?

    @inline(__always)
    init(_ word: UInt64) {
        let (low, highs): (UInt64, UInt64) = (0x7F7F_7F7F_7F7F_7F7F, 0x8080_8080_8080_8080)
        // Without its high bit, no byte carries into the next one. Digits become 0 to 9, letters 1 to 6.
        let (decimals, letters) = (word ^ 0x3030_3030_3030_3030, (word | 0x2020_2020_2020_2020) ^ 0x6060_6060_6060_6060)
        let notDecimal = ((decimals & low) &+ 0x7676_7676_7676_7676) | decimals
        let notLetter = ((letters & low) &+ 0x7979_7979_7979_7979) | letters | ~((letters & low) &+ low)
        if notDecimal & notLetter & highs != 0 {
            number = nil
            return
        }
        var digits = (word & 0x0F0F_0F0F_0F0F_0F0F) &+ 9 &* ((word >> 6) & 0x0101_0101_0101_0101)
        digits = (digits << 4 | digits >> 8) & 0x00FF_00FF_00FF_00FF
        digits = (digits << 8 | digits >> 16) & 0x0000_FFFF_0000_FFFF
        number = (digits << 16 | digits >> 32) & 0xFFFF_FFFF
    }
}

extension UnsafeRawPointer {
    /// The eight bytes at a distance, whatever their alignment; the first one is the lowest.
    @inline(__always)
    fileprivate func word(at offset: Int) -> UInt64 {
        UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Four bytes at one distance, and four at another.
    @inline(__always)
    fileprivate func word(joining first: Int, and second: Int) -> UInt64 {
        let low = UInt32(littleEndian: loadUnaligned(fromByteOffset: first, as: UInt32.self))
        let high = UInt32(littleEndian: loadUnaligned(fromByteOffset: second, as: UInt32.self))
        return UInt64(low) | UInt64(high) << 32
    }
}
