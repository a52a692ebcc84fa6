internal import InstrumentHTTP
internal import InstrumentText

/// The keys in effect at a line of a playlist (`EXT-X-KEY`, RFC 8216 section 4.3.2.4): one of each key format.
struct KeyLine: Hashable, Sendable {
    private struct Key: Hashable, Sendable {
        var format: String
        var method: SegmentEncryption.Method
        var url: HTTPURL?
        /// The 16 bytes of a key in a `data:` address.
        var bytes: [UInt8]?
        var vector: [UInt8]?
        var licenceData: [UInt8] = []

        /// Takes the address of the 16 bytes of the key, or the bytes that a `data:` address has.
        mutating func take(
            _ reference: String,
            _ references: ReferenceBase,
            _ line: Int,
            _ budget: inout Int
        ) throws(ManifestError) {
            guard DataAddress.matches(reference) else {
                url = try references.resolve(reference, line: line, budget: &budget)
                return
            }
            bytes = DataAddress.bytes(of: reference)
            guard bytes?.count == 16 else {
                let found = bytes.map { "\($0.count) bytes" } ?? "a text that cannot be decoded"
                let message = "the `data:` address of `EXT-X-KEY` must have a key of 16 bytes (found \(found))"
                throw ManifestError(.malformed, message, line: line)
            }
        }
    }

    private var keys: [Key] = []

    /// Whether the key gives an initialization vector.
    var hasVector: Bool { chosen?.vector != nil }

    /// A supported key wins over unsupported keys.
    private var chosen: Key? { keys.first { $0.method == .aes128 } ?? keys.first }

    mutating func take(
        _ attributes: AttributeList,
        _ references: ReferenceBase,
        _ line: Int,
        _ budget: inout Int
    ) throws(ManifestError) {
        guard let method = attributes["METHOD"] else {
            throw ManifestError(.malformed, "`EXT-X-KEY` must have a METHOD attribute (found none)", line: line)
        }
        if method == "NONE" {
            keys = []
            return
        }
        let format = attributes["KEYFORMAT"] ?? "identity"
        let name = format == "identity" ? String(method.prefix(40)) : "\(method.excerpt()) with \(format.excerpt())"
        var key = Key(format: format, method: .unsupported(name))
        if method == "SAMPLE-AES" || method == "SAMPLE-AES-CTR" {
            key.method = .samples(name)
            key.licenceData = Self.licenceData(attributes)
            // The address of an identity key is that of its 16 bytes; other formats have an address of their system.
            if format == "identity", let reference = attributes["URI"] {
                if Self.isFetchable(reference) { try key.take(reference, references, line, &budget) }
                // Without a key format, a system of digital rights management may have its data there as well.
                if key.licenceData.count == 16, DataAddress.matches(reference) { key.bytes = key.licenceData }
                key.vector = try Self.vector(attributes, line)
            }
        } else if method == "AES-128", format == "identity" {
            guard let reference = attributes["URI"] else {
                throw ManifestError(.malformed, "`EXT-X-KEY` must have a URI attribute (found none)", line: line)
            }
            key.method = .aes128
            try key.take(reference, references, line, &budget)
            key.vector = try Self.vector(attributes, line)
        }
        keys.removeAll { $0.format == format }
        // The limit of key formats: more than there are systems of digital rights management.
        if keys.count < 16 { keys.append(key) }
    }

    /// Whether an address is relative, or has a scheme of HTTP.
    private static func isFetchable(_ address: String) -> Bool {
        let scheme = address.prefix { !":/?#".contains($0) }
        let hasScheme = scheme.endIndex < address.endIndex && address[scheme.endIndex] == ":"
        return !hasScheme || ["http", "https"].contains(scheme.lowercased())
    }

    /// What the licence request of a player begins with: Widevine and PlayReady have their data in a `data:` address,
    /// FairPlay Streaming has the identifier of the content as the address.
    private static func licenceData(_ attributes: AttributeList) -> [UInt8] {
        guard let address = attributes["URI"] else {
            return attributes["KEYID"].flatMap { DecimalText.sixteenBytes(hexadecimal: $0) } ?? []
        }
        return DataAddress.matches(address) ? DataAddress.bytes(of: address) ?? [] : Array(address.utf8)
    }

    private static func vector(_ attributes: AttributeList, _ line: Int) throws(ManifestError) -> [UInt8]? {
        guard let text = attributes["IV"] else { return nil }
        if let bytes = DecimalText.sixteenBytes(hexadecimal: text) { return bytes }
        let expected = "IV of `EXT-X-KEY` must be 0x and up to 32 hexadecimal digits"
        throw ManifestError(.malformed, "\(expected) (found \(text.utf8.count) characters)", line: line)
    }

    /// Returns the encryption of the segment with this number (section 5.2: without a vector, the number is the
    /// vector).
    func encryption(sequence: Int64) -> SegmentEncryption? {
        chosen.map { key in
            let number = UInt64(bitPattern: sequence)
            let bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }
            let vector = key.vector ?? [UInt8](repeating: 0, count: 8) + bytes
            var encryption = SegmentEncryption(method: key.method, keyURL: key.url, initializationVector: vector)
            (encryption.licenceData, encryption.key) = (key.licenceData, key.bytes)
            return encryption
        }
    }
}
