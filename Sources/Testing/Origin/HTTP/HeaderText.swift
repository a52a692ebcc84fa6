internal import Instrument

/// Values that are allowed in a head.
enum HeaderText {
    /// Whether a value cannot end its line: only visible ASCII and spaces.
    static func isSafe(_ value: String) -> Bool { value.utf8.allSatisfy { (0x20...0x7E).contains($0) } }

    /// Returns a path for `Location` and playlists, with all other bytes percent-encoded (RFC 3986, section 3.3).
    static func encoded(path: String) -> String { PercentCoding.encoded(path, keeping: "!$&'()*+,;=:@/") }

    /// Returns a path without percent-encoding; nil if the encoding is malformed, or contains a zero or bytes that
    /// are not UTF-8.
    static func decoded(path: some StringProtocol) -> String? {
        guard let bytes = PercentCoding.strictlyDecoded(path), !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
