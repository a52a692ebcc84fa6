internal import Instrument

/// The numbers of samples that movie fragments declare (`trun`, ISO/IEC 14496-12, 8.8.8), before anybody makes room for
/// them.
enum DeclaredSamples {
    /// Whether fragments declare no more samples than there are bytes: a sample has one byte at least. A few bytes can
    /// declare thousands of millions, for which libavformat makes room without looking at the media.
    static func fit(_ media: UnsafeRawBufferPointer) -> Bool {
        var count = 0
        func descend(_ path: ArraySlice<BoxType>, _ bytes: UnsafeRawBufferPointer) {
            _ = Box.all(in: bytes) { type, content in
                guard type == path.first else { return true }
                if path.count > 1 {
                    descend(path.dropFirst(), content)
                } else {
                    count = count.saturatingAdd(Int(content.unsigned32(at: 4) ?? 0))
                }
                return true
            }
        }
        descend(["moof", "traf", "trun"], media)
        return count <= media.count
    }
}
