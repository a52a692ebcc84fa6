internal import Instrument

/// A shared key that signs sampling configurations with HMAC-SHA256 (RFC 2104).
///
/// Everybody with the key can sign, and an attacker can extract the key from an app that contains it. The signature
/// protects against a host or a proxy that changes the document, not against the owner of the device. Never shown by a
/// description.
public struct SamplingKey: Hashable, Sendable {
    private let bytes: [UInt8]

    /// Creates a key; nil if it is shorter than 16 bytes, which somebody could guess.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count >= 16 else { return nil }
        self.bytes = bytes
    }

    /// The signature of a message, in lower-case hexadecimal.
    func signature(of message: [UInt8]) -> String {
        HMAC.sha256(of: message, key: bytes).hexadecimal()
    }

    /// Requires that `signature` is the signature of the message; compares in constant time.
    func verify(_ signature: String?, of message: [UInt8]) throws(SamplingError) {
        guard let signature else {
            throw SamplingError(.unsigned, "the configuration has no `signature`; sign it with the shared key")
        }
        let (expected, found) = (Array(self.signature(of: message).utf8), Array(signature.lowercased().utf8))
        var difference = UInt8(expected.count == found.count ? 0 : 1)
        for (left, right) in zip(expected, found) { difference |= left ^ right }
        guard difference == 0 else {
            throw SamplingError(
                .wrongSignature,
                "the signature does not match the payload; sign it with the shared key"
            )
        }
    }
}

extension SamplingKey: CustomStringConvertible, CustomReflectable {
    /// Says only that there is a key.
    public var description: String { "sampling key" }

    /// Shows what ``description`` does, so that no dump shows the key.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
