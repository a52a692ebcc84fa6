/// The configuration of a sample entry `mp4a` (ISO/IEC 14496-1, 7.2.6; 14496-3, 1.6.2).
enum AudioConfiguration {
    /// Object types of codecs that no browser has.
    private static let refused: [UInt8: String] = [
        0xA9: "DTS", 0xAA: "DTS-HD", 0xAB: "DTS-HD Master Audio", 0xAC: "DTS Express", 0xE1: "QCELP",
    ]

    /// The codec; nil in doubt.
    ///
    /// - Throws: ``MediaRefusal``.
    static func family(in boxes: BoxReading) throws(MediaRefusal) -> CodecFamily? {
        guard let box = boxes.first("esds") else {
            // QuickTime has it deeper.
            if boxes.first("wave") != nil { return nil }
            throw MediaRefusal(
                "the initialization section has a sample entry `mp4a` without an `esds` box",
                expected: "one"
            )
        }
        var reader = DescriptorReader(box.bytes)
        guard reader.enterStream(), reader.enter(4), let objectType = reader.next() else { return nil }
        if let name = refused[objectType] {
            throw MediaRefusal(
                "the initialization section has a track of \(name)",
                expected: "a codec such as AAC, Opus and FLAC",
                remedy: "encode the track again"
            )
        }
        switch objectType {
        case 0x40: break
        case 0x66...0x68: return .aac
        case 0x69, 0x6B: return .mp3
        case 0xA5: return .ac3
        case 0xA6: return .enhancedAC3
        default: return nil
        }
        // The rest of the decoder's description: type of stream, buffer, bitrates.
        reader.skip(12)
        guard reader.enter(5) else {
            throw refusal("has no AudioSpecificConfig", remedy: emptyRemedy)
        }
        if let problem = problem(of: reader.content) { throw refusal(problem, remedy: emptyRemedy) }
        return .aac
    }

    /// Chromium's media source knows no MPEG audio in MP4 (media/formats/mp4/es_descriptor.h, `ObjectType`).
    static let mpegAudio = MediaRefusal(
        "the initialization section has a track of MPEG audio (MP3)",
        expected: "a codec such as AAC, Opus and FLAC",
        remedy: "encode the track again, or package MP3 without MP4",
        ground: .chromium
    )

    private static let emptyRemedy =
        "let the packager read a frame before it writes the section (ffmpeg: `-movflags +delay_moov`)"

    private static func refusal(_ problem: String, remedy: String) -> MediaRefusal {
        MediaRefusal(
            "the `esds` box of the AAC track \(problem)",
            expected: "the object type, the sampling rate and the channels",
            remedy: remedy
        )
    }

    /// The defect of an AudioSpecificConfig, as a verb; nil without one.
    private static func problem(of content: UnsafeRawBufferPointer) -> String? {
        var bits = BitReader(content)
        guard var objectType = bits.next(5) else { return "has an empty AudioSpecificConfig" }
        if objectType == 31 {
            guard let more = bits.next(6) else { return truncated(content) }
            objectType = 32 + more
        }
        if objectType == 0 { return "has an AudioSpecificConfig with the object type 0" }
        guard let rate = bits.next(4) else { return truncated(content) }
        if rate == 13 || rate == 14 {
            return "has an AudioSpecificConfig with the reserved sampling frequency index \(rate)"
        }
        if rate == 15, bits.next(24) == nil { return truncated(content) }
        return bits.next(4) == nil ? truncated(content) : nil
    }

    private static func truncated(_ content: UnsafeRawBufferPointer) -> String {
        "has an AudioSpecificConfig that ends after \(content.count) bytes"
    }
}

/// Descriptors within each other: a tag, a length of up to four bytes, the content.
private struct DescriptorReader {
    private(set) var content: UnsafeRawBufferPointer
    private var offset = 0

    init(_ box: UnsafeRawBufferPointer) {
        content = box
        // The version and flags of the box.
        offset = 4
    }

    mutating func next() -> UInt8? {
        guard offset < content.count else { return nil }
        offset += 1
        return content[offset - 1]
    }

    mutating func skip(_ count: Int) { offset += count }

    /// Enters the descriptor at this place; false if it has another tag or is not complete.
    mutating func enter(_ tag: UInt8) -> Bool {
        guard next() == tag else { return false }
        var length = 0
        for _ in 0..<4 {
            guard let byte = next() else { return false }
            length = length << 7 | Int(byte & 0x7F)
            if byte & 0x80 != 0 { continue }
            guard offset + length <= content.count else { return false }
            content = UnsafeRawBufferPointer(rebasing: content[offset..<(offset + length)])
            offset = 0
            return true
        }
        return false
    }

    /// Enters a stream's descriptor and moves behind its identifiers.
    mutating func enterStream() -> Bool {
        guard enter(3) else { return false }
        skip(2)
        guard let flags = next() else { return false }
        if flags & 0x80 != 0 { skip(2) }
        if flags & 0x40 != 0, let length = next() { skip(Int(length)) }
        if flags & 0x20 != 0 { skip(2) }
        return true
    }
}

/// Bits, the highest first.
private struct BitReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The next number; nil at the end.
    mutating func next(_ count: Int) -> Int? {
        guard position + count <= bytes.count * 8 else { return nil }
        var value = 0
        for _ in 0..<count {
            value = value << 1 | Int(bytes[position >> 3] >> (7 - UInt8(position & 7)) & 1)
            position += 1
        }
        return value
    }
}
