internal import Instrument

/// The signature of webhooks: HMAC-SHA256 (RFC 2104).
package enum MessageSignature {
    /// The signature of a body as the header carries it: `sha256=` and 64 hexadecimal digits.
    package static func header(_ body: [UInt8], key: [UInt8]) -> String {
        "sha256=" + HMAC.sha256(of: body, key: key).hexadecimal()
    }
}
