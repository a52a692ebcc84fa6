internal import Instrument

/// The reason why the text of a schedule or a fault is invalid.
public struct OriginSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The message: the text that was found, and the expected text.
    package let message: String
    /// The text.
    package let text: String

    /// Both in one sentence.
    public var description: String { "\(message), in '\(text)'" }
}

/// Reads a text word by word.
struct TextReader {
    let text: String
    private var words: ArraySlice<Substring>

    init(_ text: some StringProtocol) {
        self.text = String(text)
        words = self.text.split(whereSeparator: \.isWhitespace)[...]
    }

    var isAtEnd: Bool { words.isEmpty }

    func error(_ message: String) -> OriginSyntaxError { OriginSyntaxError(message: message, text: text) }

    /// Consumes the next word if it is this word.
    mutating func take(_ word: String) -> Bool {
        guard words.first?.lowercased() == word else { return false }
        words.removeFirst()
        return true
    }

    /// Consumes the next word.
    mutating func word(_ meaning: String) throws(OriginSyntaxError) -> String {
        guard let word = words.popFirst() else { throw error("expected \(meaning) (found the end of the text)") }
        return String(word)
    }

    mutating func count(_ meaning: String) throws(OriginSyntaxError) -> Int {
        let word = try word(meaning)
        guard let value = Int(word), value >= 0 else { throw error("'\(word)' is not \(meaning)") }
        return value
    }

    mutating func duration() throws(OriginSyntaxError) -> Duration {
        let word = try word("a duration like 1.5s or 200ms")
        guard let value = Self.duration(word) else {
            throw error("'\(word)' is not a duration; expected a form such as 1.5s or 200ms")
        }
        return value
    }

    mutating func bandwidth() throws(OriginSyntaxError) -> Bandwidth {
        let word = try word("a bandwidth like 4000k, 2.5M or unlimited")
        guard let value = Self.bandwidth(word) else {
            throw error("'\(word)' is not a bandwidth; expected a form such as 4000k, 2.5M or unlimited")
        }
        return value
    }

    static func duration(_ word: some StringProtocol) -> Duration? {
        let units: [(String, Double)] = [("ms", 1e6), ("us", 1e3), ("ns", 1), ("s", 1e9), ("m", 60e9), ("h", 3600e9)]
        for (suffix, scale) in units where word.hasSuffix(suffix) {
            guard let nanoseconds = number(word.dropLast(suffix.count), times: scale) else { return nil }
            return .nanoseconds(nanoseconds)
        }
        return nil
    }

    static func bandwidth(_ word: some StringProtocol) -> Bandwidth? {
        if word.lowercased() == "unlimited" { return .unlimited }
        let scales: [Character: Double] = ["k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9]
        let scale = word.last.flatMap { scales[$0] }
        let digits = scale == nil ? word[...] : word.dropLast()
        return number(digits, times: scale ?? 1).map { Bandwidth(bitsPerSecond: Int(clamping: $0)) }
    }

    private static func number(_ digits: some StringProtocol, times scale: Double) -> Int64? {
        guard let value = Double(String(digits)), value >= 0 else { return nil }
        return Int64(exactly: (value * scale).rounded())
    }
}
