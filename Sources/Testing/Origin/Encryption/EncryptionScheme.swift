internal import Instrument
internal import InstrumentText

/// A scheme of Common Encryption (ISO/IEC 23001-7, 10): the name of the folder under `vod/`.
enum EncryptionScheme: String, Sendable, CaseIterable {
    /// AES in counter mode, an initialization vector for each sample.
    case cenc
    /// AES-CBC, for video one block in ten, and one initialization vector.
    case cbcs

    static let keyIdentifier: [UInt8] = Array("instrument/key-1".utf8)
    static let key: [UInt8] = Array("instrument/cenc!".utf8)
    /// The initialization vector of `cbcs`.
    static let constantVector: [UInt8] = Array("instrument/vector".utf8.prefix(16))
    /// The system of W3C's Clear Key (Encrypted Media Extensions, Initialization Data Format Registry).
    static let system: [UInt8] = [
        0x10, 0x77, 0xEF, 0xEC, 0xC0, 0xB2, 0x4D, 0x02, 0xAC, 0xE3, 0x3C, 0x1E, 0x52, 0xE2, 0xFB, 0x4B,
    ]

    /// The method of a playlist (rfc8216bis, section 4.4.4.4).
    var method: String { self == .cenc ? "SAMPLE-AES-CTR" : "SAMPLE-AES" }

    /// The box of Clear Key with the key's identifier (ISO/IEC 23001-7, 8.1).
    static var protectionSystemBox: [UInt8] {
        MP4Box.full("pssh", version: 1, system + MP4Box.word(1) + keyIdentifier + MP4Box.word(0))
    }

    /// The tag of a playlist.
    var tag: String {
        let system = "1077efec-c0b2-4d02-ace3-3c1e52e2fb4b"
        let data = Base64.encode(Self.protectionSystemBox)
        return "#EXT-X-KEY:METHOD=\(method),URI=\"data:text/plain;base64,\(data)\","
            + "KEYID=0x\(Self.keyIdentifier.hexadecimal(uppercase: true)),"
            + "KEYFORMAT=\"urn:uuid:\(system)\",KEYFORMATVERSIONS=\"1\""
    }

    /// The elements of an adaptation set (ISO/IEC 23001-7, 11; DASH-IF, Clear Key).
    var elements: String {
        let digits = Self.keyIdentifier.hexadecimal(uppercase: false)
        var (identifier, rest) = ("", digits[...])
        for length in [8, 4, 4, 4, 12] {
            identifier += (identifier.isEmpty ? "" : "-") + rest.prefix(length)
            rest = rest.dropFirst(length)
        }
        return "      <ContentProtection schemeIdUri=\"urn:mpeg:dash:mp4protection:2011\" value=\"\(rawValue)\" "
            + "xmlns:cenc=\"urn:mpeg:cenc:2013\" cenc:default_KID=\"\(identifier)\"/>\n"
            + "      <ContentProtection schemeIdUri=\"urn:uuid:e2719d58-a985-b3c9-781a-b030af78d30e\" value=\"ClearKey1.0\" "
            + "xmlns:dashif=\"https://dashif.org/CPS\">"
            + "<dashif:Laurl Lic_type=\"EME-1.0\">../../licence</dashif:Laurl></ContentProtection>\n"
    }

    /// The answer of the licence server `licence`: a licence of Clear Key (Encrypted Media Extensions, section 9.1.4).
    static var licence: Resource {
        // Without padding, in the alphabet of addresses (RFC 4648, section 5).
        let texts = [keyIdentifier, key].map { bytes in
            String(Base64.encode(bytes).compactMap { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 == "=" ? nil : $0 })
        }
        let text =
            "{\"keys\":[{\"kty\":\"oct\",\"kid\":\"\(texts[0])\",\"k\":\"\(texts[1])\"}],\"type\":\"temporary\"}\n"
        return Resource("application/json", Body(text))
    }
}

/// Writes boxes (ISO/IEC 14496-12, 4.2).
enum MP4Box {
    static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        word(UInt32(content.count + 8)) + Array(type.utf8) + content
    }

    static func full(_ type: String, version: UInt8 = 0, flags: UInt8 = 0, _ content: [UInt8]) -> [UInt8] {
        box(type, [version, 0, 0, flags] + content)
    }

    static func word(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { (shift: UInt32) in UInt8(truncatingIfNeeded: value >> shift) }
    }

    static func half(_ value: Int) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
    }
}
