/// Finds where a request's head ends, in bytes that come in pieces: each byte is looked at once, so that a client that
/// sends one byte at a time costs no more than one that sends all at once.
struct HeadSearch: Hashable, Sendable {
    /// How many bytes were looked at and are not the end.
    private var searched = 0

    /// The place of the empty line that ends the head, in all bytes that have come since the head began; nil if it is not
    /// there yet.
    mutating func end<Bytes: RandomAccessCollection<UInt8>>(in bytes: Bytes) -> Bytes.Index? {
        // The mark may have begun in the bytes before.
        var index = bytes.index(bytes.startIndex, offsetBy: min(max(0, searched - 3), bytes.count))
        searched = bytes.count
        while let found = bytes[index...].firstIndex(of: 0x0D) {
            if bytes[found...].starts(with: [0x0D, 0x0A, 0x0D, 0x0A]) { return found }
            index = bytes.index(after: found)
        }
        return nil
    }
}
