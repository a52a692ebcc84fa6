internal import Instrument
internal import InstrumentText

/// A `data:` address, which has its resource in itself (RFC 2397).
enum DataAddress {
    /// Whether a text is a `data:` address, readable or not.
    static func matches(_ text: String) -> Bool { text.prefix(5).lowercased() == "data:" }

    /// Returns the bytes of a `data:` address; nil for another address, and for one that cannot be decoded.
    static func bytes(of text: String) -> [UInt8]? {
        guard matches(text) else { return nil }
        let (kind, data) = text.split(at: ",")
        guard let data else { return nil }
        guard kind.lowercased().hasSuffix(";base64") else { return PercentCoding.decoded(data) }
        // The characters `+`, `/` and `=` may be encoded.
        return Base64.decode(String(decoding: PercentCoding.decoded(data), as: UTF8.self))
    }
}
