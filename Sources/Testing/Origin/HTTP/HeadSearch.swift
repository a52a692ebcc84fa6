/// Finds the end of a request's head in bytes that arrive in pieces. Each byte is inspected once, so that a client
/// that sends one byte at a time costs no more than a client that sends all bytes at once.
struct HeadSearch: Hashable, Sendable {
    /// The number of inspected bytes without an end.
    private var searched = 0

    /// Returns the position of the empty line that ends the head, in all bytes since the head began; nil without one
    /// so far.
    mutating func end<Bytes: RandomAccessCollection<UInt8>>(in bytes: Bytes) -> Bytes.Index? {
        // The mark may begin in the previous bytes.
        var index = bytes.index(bytes.startIndex, offsetBy: min(max(0, searched - 3), bytes.count))
        searched = bytes.count
        while let found = bytes[index...].firstIndex(of: 0x0D) {
            if bytes[found...].starts(with: [0x0D, 0x0A, 0x0D, 0x0A]) { return found }
            index = bytes.index(after: found)
        }
        return nil
    }
}
