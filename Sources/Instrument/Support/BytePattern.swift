/// A pattern of bytes to find in other bytes, in time linear in both, for any content.
///
/// `String.contains(_:)` and `Collection.firstRange(of:)` take the product of the lengths for texts that repeat
/// themselves.
///
/// Source: Knuth, Morris and Pratt, "Fast Pattern Matching in Strings", SIAM Journal on Computing 6 (1977).
package struct BytePattern: Sendable {
    private let bytes: [UInt8]
    /// For each length of a match so far, the length of the longest shorter one that ends in the same bytes.
    private let fallback: [Int]

    package init(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        var (fallback, length) = ([Int](repeating: 0, count: bytes.count), 0)
        for place in bytes.indices.dropFirst() {
            while length > 0, bytes[place] != bytes[length] { length = fallback[length - 1] }
            if bytes[place] == bytes[length] { length += 1 }
            fallback[place] = length
        }
        (self.bytes, self.fallback) = (bytes, fallback)
    }

    /// Whether the bytes have the pattern somewhere. The empty pattern is everywhere.
    package func isContained(in text: some Sequence<UInt8>) -> Bool {
        var length = 0
        for byte in text {
            if length == bytes.count { return true }
            while length > 0, byte != bytes[length] { length = fallback[length - 1] }
            if byte == bytes[length] { length += 1 }
        }
        return length == bytes.count
    }
}
