internal import Instrument

/// Reads a short text from left to right, byte by byte, and never past its end.
package struct TextCursor {
    private var rest: ArraySlice<UInt8>

    /// Creates a cursor at the start of a text.
    package init(_ text: some StringProtocol) { rest = Array(text.utf8)[...] }

    /// Whether every byte was taken.
    package var isAtEnd: Bool { rest.isEmpty }

    /// Takes an ASCII character if it comes next.
    package mutating func take(_ character: Character) -> Bool {
        guard let expected = character.asciiValue, rest.first == expected else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Takes the next character if it is one of `characters`.
    package mutating func take(anyOf characters: String) -> Character? {
        guard let next = rest.first, next < 0x80, characters.utf8.contains(next) else { return nil }
        rest = rest.dropFirst()
        return Character(Unicode.Scalar(next))
    }

    /// Takes a number of exactly `count` digits, at most 18.
    package mutating func number(digits count: Int) -> Int? {
        guard (1...18).contains(count), rest.count >= count else { return nil }
        var value = 0
        for byte in rest.prefix(count) {
            guard byte.isDigit else { return nil }
            value = value * 10 + Int(byte & 15)
        }
        rest = rest.dropFirst(count)
        return value
    }

    /// Takes all digits that come next, at least one.
    package mutating func digits() -> ArraySlice<UInt8>? {
        let digits = rest.prefix(while: \.isDigit)
        if digits.isEmpty { return nil }
        rest = rest.dropFirst(digits.count)
        return digits
    }

    /// Takes the digits of a fraction, at least one, and returns the first `places` of them as a number: `5` is 500
    /// with three places. Further digits are cut off.
    package mutating func fraction(places: Int) -> Int? {
        guard let digits = digits()?.prefix(places) else { return nil }
        return (digits.count..<places).reduce(Self.number(digits)) { value, _ in value * 10 }
    }

    /// The number that digits stand for. Only the first 18 digits count, so that nothing overflows.
    package static func number(_ digits: some Sequence<UInt8>) -> Int {
        digits.prefix(18).reduce(0) { $0 * 10 + Int($1 & 15) }
    }
}
