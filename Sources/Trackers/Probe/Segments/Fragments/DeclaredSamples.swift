internal import Instrument

/// The numbers of samples that boxes of MP4 declare (ISO/IEC 14496-12, 8.7.3 and 8.8.8; ISO/IEC 23001-7, 7.2), before
/// anybody makes room for them.
struct DeclaredSamples {
    /// The boxes that libavformat looks into, wherever they are.
    private static let containers: Set<BoxType> = [
        "moov", "trak", "mdia", "minf", "stbl", "mvex", "moof", "traf", "edts", "dinf", "udta", "sinf", "schi", "tref",
    ]
    /// The offset of the number of samples in the content of a box.
    private static let places: [BoxType: Int] = ["trun": 4, "stsz": 8, "senc": 4]
    private static let deepest = 12

    private var counts: [BoxType: Int] = [:]

    /// Whether an initialization section and its media declare no more samples than there are bytes: a sample has one
    /// byte at least. A few bytes can declare thousands of millions, for which libavformat makes room without looking
    /// at the media.
    static func fit(_ initialization: UnsafeRawBufferPointer, _ media: UnsafeRawBufferPointer) -> Bool {
        var samples = DeclaredSamples()
        if samples.add(initialization, depth: 0) {
            _ = samples.add(media, depth: 0)
        } else {
            // A box of the section reaches into the media.
            let bytes = [UInt8](initialization) + [UInt8](media)
            samples = DeclaredSamples()
            bytes.withUnsafeBytes { _ = samples.add($0, depth: 0) }
        }
        return samples.counts.values.allSatisfy { $0 <= initialization.count + media.count }
    }

    /// Adds the boxes of a container; false unless they end where the container does. Like libavformat, takes a box
    /// without an end, or with one behind the container's, up to the end of the container.
    private mutating func add(_ bytes: UnsafeRawBufferPointer, depth: Int) -> Bool {
        var offset = 0
        while offset < bytes.count {
            guard let small = bytes.unsigned32(at: offset), let name = bytes.unsigned32(at: offset + 4) else {
                return false
            }
            let isLarge = small == 1
            guard let size = isLarge ? bytes.unsigned64(at: offset + 8) : UInt64(small) else { return false }
            let content = offset + (isLarge ? 16 : 8)
            let end = size == 0 ? bytes.count : offset.saturatingAdd(Int(clamping: size))
            guard content <= end else { return false }
            let part = UnsafeRawBufferPointer(rebasing: bytes[content..<max(content, min(end, bytes.count))])
            add(BoxType(rawValue: name), part, depth)
            guard size > 0, end <= bytes.count else { return false }
            offset = end
        }
        return true
    }

    private mutating func add(_ type: BoxType, _ content: UnsafeRawBufferPointer, _ depth: Int) {
        if let place = Self.places[type], let count = content.unsigned32(at: place) {
            counts[type] = (counts[type] ?? 0).saturatingAdd(Int(count))
        } else if Self.containers.contains(type), depth < Self.deepest {
            _ = add(content, depth: depth + 1)
        }
    }
}
