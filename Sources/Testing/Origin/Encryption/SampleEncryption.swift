internal import Instrument
internal import NIOCore

/// Encrypts the samples of fragmented MP4 of one track (ISO/IEC 23001-7), each time with the same result.
struct SampleEncryption: Sendable {
    /// The bytes that stay clear at the beginning of a NAL unit: its length, its header, and the slice's header.
    private static let clearLead = 40
    /// Of video in `cbcs`, one block in ten is encrypted.
    private static let pattern = 10

    let scheme: EncryptionScheme
    let isVideo: Bool
    private let cipher: BlockCipher

    init?(_ scheme: EncryptionScheme, isVideo: Bool) {
        guard let cipher = BlockCipher(key: EncryptionScheme.key) else { return nil }
        (self.scheme, self.isVideo, self.cipher) = (scheme, isVideo, cipher)
    }

    /// A range of a sample.
    private struct Subsample {
        var clear: Int
        var protected: Int
    }
}

// MARK: Initialization sections
extension SampleEncryption {
    /// The initialization section with the protection; nil for bytes that no fixture has.
    func initialization(_ section: [UInt8]) -> [UInt8]? {
        var (result, isProtected) = ([UInt8](), false)
        for (type, box) in BoxList(section) {
            guard type == "moov" else {
                result += box
                continue
            }
            let content = BoxList.replacing(["trak", "mdia", "minf", "stbl", "stsd"], in: Array(box.dropFirst(8))) {
                table in
                guard let entry = protected(Array(table.dropFirst(16))) else { return nil }
                isProtected = true
                return MP4Box.box("stsd", Array(table[8..<16]) + entry)
            }
            result += MP4Box.box("moov", content + EncryptionScheme.protectionSystemBox)
        }
        return isProtected ? result : nil
    }

    /// A sample entry with another type and the protection (`sinf`).
    private func protected(_ entry: [UInt8]) -> [UInt8]? {
        guard entry.count > 8 else { return nil }
        let format = MP4Box.box("frma", Array(entry[4..<8]))
        let type = MP4Box.full("schm", Array(scheme.rawValue.utf8) + MP4Box.word(0x1_0000))
        let identifier = EncryptionScheme.keyIdentifier
        let defaults: [UInt8]
        switch scheme {
        case .cenc: defaults = MP4Box.full("tenc", [0, 0, 1, 8] + identifier)
        case .cbcs:
            let pattern: UInt8 = isVideo ? 0x19 : 0
            let vector = EncryptionScheme.constantVector
            defaults = MP4Box.full(
                "tenc",
                version: 1,
                [0, pattern, 1, 0] + identifier + [UInt8(vector.count)] + vector
            )
        }
        let protection = MP4Box.box("sinf", format + type + MP4Box.box("schi", defaults))
        return MP4Box.box(isVideo ? "encv" : "enca", Array(entry.dropFirst(8)) + protection)
    }
}

// MARK: Fragments
extension SampleEncryption {
    /// A fragment with encrypted samples; nil for bytes that no fixture has.
    func fragment(_ bytes: [UInt8]) -> [UInt8]? {
        var (result, description) = ([UInt8](), [UInt8]())
        for (type, box) in BoxList(bytes) {
            switch type {
            case "moof": description = box
            case "mdat" where !description.isEmpty:
                guard let (moof, mdat) = encrypted(description, box) else { return nil }
                result += moof + mdat
                description = []
            default: result += box
            }
        }
        return description.isEmpty ? result : nil
    }

    private func encrypted(_ moof: [UInt8], _ mdat: [UInt8]) -> (moof: [UInt8], mdat: [UInt8])? {
        guard let run = FragmentRun(moof) else { return nil }
        var (media, entries, sizes, offset) = (mdat, [UInt8](), [UInt8](), 8)
        for (index, size) in run.sizes.enumerated() {
            guard offset + size <= media.count else { return nil }
            let subsamples = isVideo ? self.subsamples(Array(media[offset..<(offset + size)])) : []
            let vector = Self.vector(run.time &+ UInt64(index))
            encrypt(&media, at: offset, size: size, subsamples, vector)
            var entry = scheme == .cenc ? vector : []
            if isVideo {
                entry += MP4Box.half(subsamples.count)
                for part in subsamples { entry += MP4Box.half(part.clear) + MP4Box.word(UInt32(part.protected)) }
            }
            entries += entry
            sizes.append(UInt8(clamping: entry.count))
            offset += size
        }
        return (run.moof(with: description(entries, sizes), moof), media)
    }

    /// The boxes of a fragment for vectors and ranges (ISO/IEC 23001-7, 7.2; 14496-12, 8.7.8), without the offset.
    private func description(_ entries: [UInt8], _ sizes: [UInt8]) -> [UInt8] {
        // Whole samples with one vector for all need no description.
        if entries.isEmpty { return [] }
        let count = MP4Box.word(UInt32(sizes.count))
        return MP4Box.full("saiz", [0] + count + sizes) + MP4Box.full("senc", flags: isVideo ? 2 : 0, count + entries)
    }

    /// The clear and the encrypted part of each NAL unit.
    private func subsamples(_ sample: [UInt8]) -> [Subsample] {
        var (parts, offset) = ([Subsample](), 0)
        while offset + 5 <= sample.count {
            let length = sample[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) } + 4
            let end = min(sample.count, offset + length)
            let isSlice = 1...5 ~= sample[offset + 4] & 0x1F
            let blocks = max(0, end - offset - Self.clearLead) / BlockCipher.blockSize
            let protected = isSlice ? blocks * BlockCipher.blockSize : 0
            parts.append(Subsample(clear: end - offset - protected, protected: protected))
            offset = end
        }
        return parts
    }

    private static func vector(_ number: UInt64) -> [UInt8] {
        MP4Box.word(UInt32(truncatingIfNeeded: number >> 32)) + MP4Box.word(UInt32(truncatingIfNeeded: number))
    }

    private func encrypt(
        _ media: inout [UInt8],
        at offset: Int,
        size: Int,
        _ subsamples: [Subsample],
        _ vector: [UInt8]
    ) {
        let parts = subsamples.isEmpty ? [Subsample(clear: 0, protected: size)] : subsamples
        var (place, counter) = (offset, Counter(vector, cipher))
        for part in parts {
            place += part.clear
            let range = place..<(place + part.protected)
            switch scheme {
            case .cenc: for index in range { media[index] ^= counter.next() }
            case .cbcs: chain(&media, range)
            }
            place = range.upperBound
        }
    }

    /// AES-CBC from the constant vector on; a part of a block stays clear.
    private func chain(_ media: inout [UInt8], _ range: Range<Int>) {
        var block = EncryptionScheme.constantVector
        let step = BlockCipher.blockSize * (isVideo ? Self.pattern : 1)
        for start in stride(from: range.lowerBound, through: range.upperBound - BlockCipher.blockSize, by: step) {
            cipher.chain(&media, at: start, to: &block)
        }
    }

    /// The bytes of the key stream: the encrypted vectors and block numbers.
    private struct Counter {
        private let vector: [UInt8]
        private let cipher: BlockCipher
        private var (number, used) = (UInt64(0), BlockCipher.blockSize)
        private var block: [UInt8] = []

        init(_ vector: [UInt8], _ cipher: BlockCipher) { (self.vector, self.cipher) = (vector, cipher) }

        mutating func next() -> UInt8 {
            if used == BlockCipher.blockSize {
                block = vector + SampleEncryption.vector(number)
                cipher.encrypt(&block)
                (number, used) = (number + 1, 0)
            }
            used += 1
            return block[used - 1]
        }
    }
}
