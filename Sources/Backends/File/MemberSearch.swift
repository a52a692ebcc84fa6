internal import InstrumentCompression

/// Finds where the next gzip member may begin, after one that was damaged; the mark may be split over two pieces.
struct MemberSearch {
    private var held: [UInt8] = []

    /// The bytes from the next mark on; nil if there is none yet.
    mutating func find(in piece: [UInt8]) -> [UInt8]? {
        let bytes = held + piece
        for start in bytes.indices where bytes[start...].starts(with: Gzip.beginning) { return Array(bytes[start...]) }
        held = bytes.suffix(Gzip.beginning.count - 1)
        return nil
    }
}
