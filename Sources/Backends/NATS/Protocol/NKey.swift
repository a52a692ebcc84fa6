internal import COpenSSL
internal import Instrument

/// The key of a user: an Ed25519 key whose text has a prefix and a checksum (the format `nkeys` of NATS).
struct NKey: Hashable, Sendable, CustomReflectable {
    /// The length of a seed's text.
    static let seedLength = 58
    /// `S` in base 32, in the upper five bits.
    private static let seedPrefix: UInt8 = 18 << 3
    /// `U` in base 32.
    private static let userPrefix: UInt8 = 20 << 3

    /// The public key as text: `U…`.
    let publicText: String
    private let seed: [UInt8]

    /// - Throws: ``NATSError`` for a text that is no seed of a user's key.
    init(seed text: String) throws(NATSError) {
        let bytes = Base32.decode(text)
        guard let bytes, bytes.count == 36, Self.checksum(bytes[..<34]) == UInt16(bytes[34]) | UInt16(bytes[35]) << 8,
            bytes[0] == Self.seedPrefix | Self.userPrefix >> 5, bytes[1] == Self.userPrefix << 3
        else {
            throw NATSError(
                .invalidCredentials,
                "the seed must be the seed of a user's key (SU and 56 more characters)"
            )
        }
        try self.init(bytes: Array(bytes[2..<34]))
    }

    /// - Parameter bytes: the 32 bytes of the seed.
    init(bytes: [UInt8]) throws(NATSError) {
        guard let key = Ed25519.publicKey(of: bytes) else {
            throw NATSError(.invalidCredentials, "OpenSSL does not accept the seed as an Ed25519 key")
        }
        seed = bytes
        publicText = Self.text([Self.userPrefix] + key)
    }

    /// The signature of a server's nonce; nil if OpenSSL fails.
    func signature(of nonce: String) -> [UInt8]? { Ed25519.signature(of: Array(nonce.utf8), seed: seed) }

    /// Bytes with their checksum as text.
    static func text(_ bytes: [UInt8]) -> String {
        let sum = checksum(bytes[...])
        return Base32.encode(bytes + [UInt8(truncatingIfNeeded: sum), UInt8(sum >> 8)])
    }

    /// CRC-16/XMODEM.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        bytes.reduce(0) { sum, byte in
            (0..<8).reduce(sum ^ UInt16(byte) << 8) { sum, _ in sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
        }
    }

    /// Only the public key.
    var customMirror: Mirror { Mirror(self, children: ["public": publicText]) }
}

/// Signatures by OpenSSL.
enum Ed25519 {
    static func publicKey(of seed: [UInt8]) -> [UInt8]? {
        guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count) else { return nil }
        defer { EVP_PKEY_free(key) }
        var bytes = [UInt8](repeating: 0, count: 32)
        var count = bytes.count
        guard EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1, count == bytes.count else { return nil }
        return bytes
    }

    static func signature(of text: [UInt8], seed: [UInt8]) -> [UInt8]? {
        guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count) else { return nil }
        defer { EVP_PKEY_free(key) }
        guard let context = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(context) }
        var bytes = [UInt8](repeating: 0, count: 64)
        var count = bytes.count
        guard EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
            EVP_DigestSign(context, &bytes, &count, text, text.count) == 1, count == bytes.count
        else { return nil }
        return bytes
    }
}

/// Base 32 without padding (RFC 4648, section 6).
enum Base32 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var (text, bits, count) = ([UInt8](), 0, 0)
        for byte in bytes {
            bits = (bits << 8 | Int(byte)) & 0xFFFF
            count += 8
            while count >= 5 {
                count -= 5
                text.append(alphabet[bits >> count & 31])
            }
        }
        if count > 0 { text.append(alphabet[bits << (5 - count) & 31]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil for a text with other characters, or with other bits than zero behind the last byte.
    static func decode(_ text: String) -> [UInt8]? {
        var (bytes, bits, count) = ([UInt8](), 0, 0)
        for character in text.utf8 {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            bits = (bits << 5 | value) & 0xFFFF
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(bits >> count & 0xFF))
            }
        }
        return count < 5 && bits & (1 << count - 1) == 0 ? bytes : nil
    }
}
