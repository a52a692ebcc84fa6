/// The keys that an object of a statement may have, found by their bytes.
struct KnownKeys: Sendable {
    private struct Key {
        let spelling: StaticString
        /// The first eight bytes, filled up with zeros.
        let head: UInt64
        let count: Int
    }

    private let keys: [Key]

    init(_ spellings: StaticString...) {
        keys = spellings.map { spelling in
            let bytes = UnsafeBufferPointer(start: spelling.utf8Start, count: spelling.utf8CodeUnitCount)
            return Key(spelling: spelling, head: Self.head(of: bytes), count: bytes.count)
        }
    }

    /// The position of a key in the list; nil for another text.
    func position(of bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        let head = Self.head(of: bytes)
        for index in keys.indices where keys[index].head == head && keys[index].count == bytes.count {
            let spelling = keys[index].spelling.utf8Start
            for place in stride(from: 8, to: bytes.count, by: 1) where bytes[place] != spelling[place] { return nil }
            return index
        }
        return nil
    }

    private static func head(of bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        if bytes.count >= 8 { return UnsafeRawBufferPointer(bytes).loadUnaligned(as: UInt64.self) }
        var head: UInt64 = 0
        for place in bytes.indices { head |= UInt64(bytes[place]) << UInt64(8 * place) }
        return UInt64(littleEndian: head)
    }
}
