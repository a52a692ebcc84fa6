/// The timestamp in front of packed audio (RFC 8216 section 3.4): a private frame of an ID3 tag.
enum PackedAudioTimestamp {
    private static let owner = Array("com.apple.streaming.transportStreamTimestamp\0".utf8)
    private static let timescale: Int64 = 90_000
    /// A segment may begin with several tags.
    private static let mostTags = 4

    /// The time of the first sample in nanoseconds; nil without a timestamp.
    static func nanoseconds(in segment: UnsafeRawBufferPointer) -> Int64? {
        var offset = 0
        for _ in 0..<mostTags {
            guard let tag = ID3Tag(segment, at: offset) else { return nil }
            if let ticks = ticks(in: tag) { return ticks.roundedNanoseconds(timescale: timescale) }
            offset = tag.end
        }
        return nil
    }

    /// The bytes behind the tags; nil if nothing is behind them.
    static func media(in segment: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        var offset = 0
        while let tag = ID3Tag(segment, at: offset), tag.end > offset { offset = tag.end }
        return offset < segment.count ? UnsafeRawBufferPointer(rebasing: segment[offset...]) : nil
    }

    /// Ticks of 90 kHz, in the lowest 33 bits of eight bytes.
    private static func ticks(in tag: ID3Tag) -> Int64? {
        let frame = tag.privateFrames.first { $0.count == owner.count + 8 && $0.starts(with: owner) }
        guard let value = frame?.unsigned64(at: owner.count), value < 1 << 33 else { return nil }
        return Int64(value)
    }
}

/// An ID3 tag (ID3v2.3 and ID3v2.4, sections 3 and 4) without an extended header and unsynchronised bytes.
private struct ID3Tag {
    private static let headerSize = 10

    private let version: UInt8
    private let content: UnsafeRawBufferPointer
    /// The offset of the bytes behind the tag.
    let end: Int

    /// Reads the tag at an offset; nil without a complete one.
    init?(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        guard offset + Self.headerSize <= bytes.count,
            bytes[offset..<(offset + 3)].elementsEqual("ID3".utf8), 3...4 ~= bytes[offset + 3],
            bytes[offset + 5] & 0xC0 == 0, let size = Self.size(bytes, at: offset + 6)
        else { return nil }
        let start = offset + Self.headerSize
        guard start + size <= bytes.count else { return nil }
        version = bytes[offset + 3]
        content = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + size)])
        end = start + size
    }

    /// The contents of the frames `PRIV`.
    var privateFrames: [UnsafeRawBufferPointer] {
        var (frames, offset) = ([UnsafeRawBufferPointer](), 0)
        while offset + Self.headerSize <= content.count {
            let length = frameSize(at: offset + 4)
            let start = offset + Self.headerSize
            guard let length, length > 0, start + length <= content.count else { break }
            if content[offset..<(offset + 4)].elementsEqual("PRIV".utf8) {
                frames.append(UnsafeRawBufferPointer(rebasing: content[start..<(start + length)]))
            }
            offset = start + length
        }
        return frames
    }

    /// Eight bits each in the third version, seven in the fourth.
    private func frameSize(at offset: Int) -> Int? {
        version == 3 ? content.unsigned32(at: offset).map { Int($0) } : Self.size(content, at: offset)
    }

    /// A number of four bytes with seven bits each; nil for other bytes.
    private static func size(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int? {
        guard let value = bytes.unsigned32(at: offset), value & 0x8080_8080 == 0 else { return nil }
        return [24, 16, 8, 0].reduce(0) { $0 << 7 | Int(value >> UInt32($1) & 0x7F) }
    }
}
