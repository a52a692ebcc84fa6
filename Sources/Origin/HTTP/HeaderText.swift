internal import Instrument

/// What may stand in a head.
enum HeaderText {
    /// Whether a value cannot end its line: visible ASCII and spaces only.
    static func isSafe(_ value: String) -> Bool { value.utf8.allSatisfy { (0x20...0x7E).contains($0) } }

    /// A path as it may stand in `Location` and in a playlist: all other bytes are percent-encoded (RFC 3986, section 3.3).
    static func encoded(path: String) -> String { PercentCoding.encoded(path, keeping: "!$&'()*+,;=:@/") }

    /// A path without percent-encoding; nil if the encoding is broken, or hides a zero or bytes that are not UTF-8.
    static func decoded(path: some StringProtocol) -> String? {
        guard let bytes = PercentCoding.strictlyDecoded(path), !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
