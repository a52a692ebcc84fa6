internal import Instrument

/// One range of bytes out of `Range` (RFC 9110, section 14).
enum RequestedRange: Hashable, Sendable {
    /// The whole body: no range, or an unsupported range, which the standard requires to ignore.
    case whole
    /// These bytes.
    case part(Range<Int>)
    /// A range beyond the end.
    case unsatisfiable

    /// Creates the range that a header requests of a body of `length` bytes. Several ranges are ignored, which the
    /// standard allows.
    init(_ header: String?, length: Int) {
        self = .whole
        guard let header, header.lowercased().hasPrefix("bytes=") else { return }
        let parts = header.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return }
        if parts[0].isEmpty {
            guard let count = Self.number(parts[1]) else { return }
            self = count > 0 && length > 0 ? .part(max(0, length - count)..<length) : .unsatisfiable
        } else if let first = Self.number(parts[0]) {
            if parts[1].isEmpty {
                self = first < length ? .part(first..<length) : .unsatisfiable
            } else if let last = Self.number(parts[1]), last >= first {
                self = first < length ? .part(first..<(min(last, length - 1) + 1)) : .unsatisfiable
            }
        }
    }

    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        // A number with more digits is beyond every end.
        return Int(text) ?? .max
    }
}
