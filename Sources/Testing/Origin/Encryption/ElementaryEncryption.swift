/// Encrypts the samples of H.264 and AAC as `SAMPLE-AES` prescribes (Apple, "MPEG-2 Stream Encryption Format for HTTP
/// Live Streaming"): AES-CBC over whole blocks, from the initialization vector on in each NAL unit and each frame.
struct ElementaryEncryption: Sendable {
    /// A NAL unit up to this size is not encrypted.
    private static let clearUnit = 48
    /// The type and the next 31 bytes stay clear. Then, one block in ten is encrypted.
    private static let (clearLead, pattern) = (32, 10)
    /// The bytes of a frame of sound that stay clear behind its header.
    private static let clearSound = 16

    private let cipher: BlockCipher
    private let vector: [UInt8]

    /// Nil if the key or the vector has not 16 bytes.
    init?(key: [UInt8], vector: [UInt8]) {
        guard let cipher = BlockCipher(key: key), vector.count == BlockCipher.blockSize else { return nil }
        (self.cipher, self.vector) = (cipher, vector)
    }

    /// A picture in the byte stream format (ISO/IEC 14496-10, annex B).
    func picture(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + bytes.count / 64)
        var (unit, place) = (bytes.startIndex, bytes.startIndex)
        while place + 3 <= bytes.count {
            guard bytes[place] == 0, bytes[place + 1] == 0, bytes[place + 2] == 1 else {
                place += 1
                continue
            }
            result += self.unit(Array(bytes[unit..<place])) + bytes[place..<(place + 3)]
            place += 3
            unit = place
        }
        return result + self.unit(Array(bytes[unit...]))
    }

    /// A NAL unit, with zeros behind it.
    private func unit(_ bytes: [UInt8]) -> [UInt8] {
        guard let end = bytes.lastIndex(where: { $0 != 0 }), [1, 5].contains(bytes[0] & 0x1F), end + 1 > Self.clearUnit
        else { return bytes }
        var (unit, block, place) = (Array(bytes[...end]), vector, Self.clearLead)
        while unit.count - place > BlockCipher.blockSize {
            cipher.chain(&unit, at: place, to: &block)
            place += Self.pattern * BlockCipher.blockSize
        }
        return Self.escaped(unit) + bytes[(end + 1)...]
    }

    /// Prevents the emulation of start codes (ISO/IEC 14496-10, 7.4.1): also in what was clear and is escaped already,
    /// because a player removes one layer before it decrypts.
    private static func escaped(_ unit: [UInt8]) -> [UInt8] {
        var (result, zeros) = ([UInt8](), 0)
        result.reserveCapacity(unit.count + 16)
        for byte in unit {
            if zeros >= 2, byte <= 3 {
                result.append(3)
                zeros = 0
            }
            result.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return result
    }

    /// Frames of AAC with their headers (ADTS; ISO/IEC 14496-3, 1.A.3.2); nil for other bytes.
    func sound(_ bytes: [UInt8]) -> [UInt8]? {
        var (result, start) = (bytes, 0)
        while start < bytes.count {
            guard let header = SoundHeader(bytes[start...]), start + header.frameSize <= bytes.count else { return nil }
            var (place, block) = (start + header.size + Self.clearSound, vector)
            while place + BlockCipher.blockSize <= start + header.frameSize {
                cipher.chain(&result, at: place, to: &block)
                place += BlockCipher.blockSize
            }
            start += header.frameSize
        }
        return result
    }
}

/// The header of a frame of AAC.
struct SoundHeader {
    /// The bytes of the header, and of the frame with it.
    let size: Int
    let frameSize: Int
    /// The configuration that a decoder begins with (`AudioSpecificConfig`, ISO/IEC 14496-3, 1.6.2.1).
    let configuration: [UInt8]

    /// Nil for other bytes.
    init?(_ bytes: ArraySlice<UInt8>) {
        let header = Array(bytes.prefix(7))
        guard header.count == 7, header[0] == 0xFF, header[1] & 0xF6 == 0xF0 else { return nil }
        size = header[1] & 1 == 1 ? 7 : 9
        frameSize = Int(header[3] & 3) << 11 | Int(header[4]) << 3 | Int(header[5] >> 5)
        guard frameSize >= size else { return nil }
        let (object, frequency) = (header[2] >> 6 + 1, header[2] >> 2 & 0x0F)
        let channels = (header[2] & 1) << 2 | header[3] >> 6
        configuration = [object << 3 | frequency >> 1, (frequency & 1) << 7 | channels << 3]
    }
}
