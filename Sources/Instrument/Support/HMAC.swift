/// HMAC (RFC 2104) with SHA-256.
package enum HMAC {
    private static let blockSize = 64

    /// The 32 bytes of the code of a message.
    package static func sha256(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        let short = key.count > blockSize ? SHA256.digest(of: key) : key
        let padded = short + [UInt8](repeating: 0, count: blockSize - short.count)
        let inner = SHA256.digest(of: padded.map { $0 ^ 0x36 } + message)
        return SHA256.digest(of: padded.map { $0 ^ 0x5C } + inner)
    }
}
