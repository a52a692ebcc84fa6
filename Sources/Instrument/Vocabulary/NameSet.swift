/// A set of attribute names: a bit for each name's number, so that a look costs a few instructions.
struct NameSet: Hashable, Sendable {
    private var words: [UInt64] = []

    /// Creates a set of these names.
    init(_ names: some Sequence<AttributeName> = EmptyCollection()) { for name in names { insert(name) } }

    /// Whether the name with this number is in it.
    @inline(__always)
    func contains(_ number: UInt32) -> Bool {
        let word = Int(number >> 6)
        return word < words.count && words[word] & (1 << UInt64(number & 63)) != 0
    }

    /// Whether all names with numbers from `limit` on are in it; in one go, since each event of a tracker is asked.
    func containsAll(of attributes: Attributes, from limit: UInt32) -> Bool {
        words.withUnsafeBufferPointer { words in
            attributes.withElements { elements in
                for index in 0..<elements.count {
                    let number = elements[index].name.number
                    if number < limit { continue }
                    let word = Int(number >> 6)
                    if word >= words.count || words[word] & (1 << UInt64(number & 63)) == 0 { return false }
                }
                return true
            }
        }
    }

    mutating func insert(_ name: AttributeName) {
        let word = Int(name.number >> 6)
        while words.count <= word { words.append(0) }
        words[word] |= 1 << UInt64(name.number & 63)
    }

    mutating func remove(_ name: AttributeName) {
        let word = Int(name.number >> 6)
        if word < words.count { words[word] &= ~(1 << UInt64(name.number & 63)) }
    }

    /// The number of names that are in it, counted from the first one that was ever made until one that is not.
    var prefixCount: UInt32 {
        let whole = words.prefix { $0 == .max }.count
        let rest = whole < words.count ? (~words[whole]).trailingZeroBitCount : 0
        return UInt32(clamping: whole * 64 + rest)
    }
}
