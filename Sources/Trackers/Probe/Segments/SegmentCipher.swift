internal import CFFmpeg

/// Decrypts whole segments (RFC 8216 section 4.3.2.4, `METHOD=AES-128`): AES with keys of 128 bits, cipher block
/// chaining, PKCS #7 padding. libavutil's AES, because it is linked anyway.
enum SegmentCipher {
    /// Returns the decrypted bytes; nil if the key or the data has an invalid length or padding.
    static func decrypt(_ bytes: [UInt8], key: [UInt8], initializationVector: [UInt8]) -> [UInt8]? {
        guard key.count == 16, initializationVector.count == 16, !bytes.isEmpty, bytes.count % 16 == 0,
            let cipher = av_aes_alloc()
        else { return nil }
        defer { av_free(UnsafeMutableRawPointer(cipher)) }
        guard av_aes_init(cipher, key, 128, 1) == 0 else { return nil }
        var vector = initializationVector
        var plain = [UInt8](repeating: 0, count: bytes.count)
        let blockCount = Int32(clamping: bytes.count / 16)
        guard Int(blockCount) == bytes.count / 16 else { return nil }
        av_aes_crypt(cipher, &plain, bytes, blockCount, &vector, 1)
        guard let padding = plain.last, padding >= 1, padding <= 16,
            plain.suffix(Int(padding)).allSatisfy({ $0 == padding })
        else { return nil }
        plain.removeLast(Int(padding))
        return plain
    }
}
