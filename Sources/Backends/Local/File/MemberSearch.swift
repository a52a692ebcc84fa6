internal import InstrumentCompression

/// Finds the possible start of the next gzip member after a damaged one; the mark may be split over two pieces.
struct MemberSearch {
    private var held: [UInt8] = []

    /// The bytes from the next mark on; nil before a mark is found.
    mutating func find(in piece: [UInt8]) -> [UInt8]? {
        let bytes = held + piece
        for start in bytes.indices where bytes[start...].starts(with: Gzip.beginning) { return Array(bytes[start...]) }
        held = bytes.suffix(Gzip.beginning.count - 1)
        return nil
    }
}
