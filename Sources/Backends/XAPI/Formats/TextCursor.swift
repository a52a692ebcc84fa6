/// Reads a short text byte by byte, for the formats below. Never leaves the text.
struct TextCursor {
    private var rest: ArraySlice<UInt8>

    init(_ text: some StringProtocol) { rest = Array(text.utf8)[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ byte: Character) -> Bool {
        guard let expected = byte.asciiValue, rest.first == expected else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Takes the first of these characters that comes next.
    mutating func take(anyOf characters: String) -> Character? {
        for character in characters where take(character) { return character }
        return nil
    }

    /// A number of just so many digits.
    mutating func number(digits count: Int) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy(Self.isDigit) else { return nil }
        rest = rest.dropFirst(count)
        return Self.number(digits)
    }

    /// The digits that come next, at least one.
    mutating func digits() -> [UInt8]? {
        let digits = rest.prefix(while: Self.isDigit)
        if digits.isEmpty { return nil }
        rest = rest.dropFirst(digits.count)
        return Array(digits)
    }

    static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    /// Eighteen digits at most count, so that nothing overflows.
    static func number(_ digits: some Sequence<UInt8>) -> Int {
        digits.prefix(18).reduce(0) { $0 * 10 + Int($1) - 48 }
    }
}
