#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

extension String {
    /// Whether the UTF-8 bytes of this text come before those of `other`: the order in which names are written.
    ///
    /// The operator `<` of `String` is not an order of all texts. It compares texts in normal form C, and where a base
    /// letter with a combining mark meets the composed letter, neither side is less although the texts differ: this is
    /// so for "e\u{301}" and "\u{E9}\n". What a sort with `<` returns then depends on the order of its input, and that
    /// of a `Dictionary` is different in each instance.
    package func precedesInBytes(_ other: String) -> Bool {
        let isBefore = utf8.withContiguousStorageIfAvailable { ours in
            other.utf8.withContiguousStorageIfAvailable { theirs in
                guard let left = ours.baseAddress, let right = theirs.baseAddress else {
                    return ours.count < theirs.count
                }
                let order = memcmp(left, right, min(ours.count, theirs.count))
                return order == 0 ? ours.count < theirs.count : order < 0
            }
        }
        // Texts that are bridged from another world have no contiguous bytes.
        return (isBefore ?? nil) ?? utf8.lexicographicallyPrecedes(other.utf8)
    }
}

extension Sequence {
    /// The elements in the order of the bytes of the text that `name` returns; equal input gives equal output.
    package func sortedByBytes(of name: (Element) -> String) -> [Element] {
        sorted { name($0).precedesInBytes(name($1)) }
    }
}
