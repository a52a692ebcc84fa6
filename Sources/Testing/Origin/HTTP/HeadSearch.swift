/// Finds the end of a request's head in bytes that arrive in pieces. Each byte is inspected once, so that a client
/// that sends one byte at a time costs no more than a client that sends all bytes at once.
struct HeadSearch: Hashable, Sendable {
    /// The number of inspected bytes without an end.
    private var searched = 0

    /// Returns the position of the empty line that ends the head, in all bytes since the head began; nil without one
    /// so far.
    /// - Throws: ``RequestHead/Refusal/badRequest`` for a line that ends with a line feed alone, which some servers
    ///   read as the end of a line and others do not (RFC 9112, section 2.2).
    mutating func end<Bytes: RandomAccessCollection<UInt8>>(
        in bytes: Bytes
    ) throws(RequestHead.Refusal) -> Bytes.Index? {
        let mark: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
        var index = bytes.index(bytes.startIndex, offsetBy: min(searched, bytes.count))
        searched = bytes.count
        while let found = bytes[index...].firstIndex(of: 0x0A) {
            let before = bytes[..<found]
            guard before.last == 0x0D else { throw .badRequest }
            index = bytes.index(after: found)
            if bytes[..<index].suffix(4).elementsEqual(mark) { return bytes.index(index, offsetBy: -4) }
        }
        return nil
    }
}
