/// Values by short byte strings: a lookup allocates nothing and hashes eight bytes at a time.
///
/// Holds at most `capacity` keys and starts again from empty when it is full, so that foreign input cannot make it
/// grow.
struct ByteTable<Value> {
    /// Longer keys are not kept.
    static var maxKeyLength: Int { 256 }

    private struct Entry {
        let hash: UInt64
        let start: Int
        let count: Int
    }

    private static var firstSlotCount: Int { 64 }

    private let capacity: Int
    private var mask: Int
    /// The number of the entry plus one; zero is an empty slot. At least half of the slots are empty.
    private var slots: [Int32]
    private var entries: [Entry] = []
    private(set) var values: [Value] = []
    private var keys: [UInt8] = []

    /// Creates a table for `capacity` keys.
    init(capacity: Int) {
        self.capacity = max(1, capacity)
        mask = Self.firstSlotCount - 1
        slots = [Int32](repeating: 0, count: Self.firstSlotCount)
    }

    /// The position of a key in ``values``; nil if the table does not have it.
    func position(of key: UnsafeBufferPointer<UInt8>) -> Int? {
        if key.count > Self.maxKeyLength { return nil }
        let hash = Self.hash(key)
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] != 0 {
            let position = Int(slots[slot]) - 1
            if entries[position].hash == hash, isKey(key, at: position) { return position }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// Adds a key that is absent, and returns its position; nil if the key is too long. A full table is emptied before.
    mutating func insert(_ value: Value, for key: UnsafeBufferPointer<UInt8>) -> Int? {
        if key.count > Self.maxKeyLength { return nil }
        if entries.count == capacity { removeAll() }
        if 2 * (entries.count + 1) > slots.count { grow() }
        entries.append(Entry(hash: Self.hash(key), start: keys.count, count: key.count))
        values.append(value)
        keys.append(contentsOf: key)
        place(entries.count - 1)
        return entries.count - 1
    }

    private mutating func place(_ position: Int) {
        var slot = Int(truncatingIfNeeded: entries[position].hash) & mask
        while slots[slot] != 0 { slot = (slot + 1) & mask }
        slots[slot] = Int32(position + 1)
    }

    private mutating func grow() {
        slots = [Int32](repeating: 0, count: 2 * slots.count)
        mask = slots.count - 1
        for position in entries.indices { place(position) }
    }

    /// The number of keys; it falls when the table is emptied.
    var count: Int { entries.count }

    /// Runs `body` with the key at a position.
    func withKey<Result>(at position: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        let entry = entries[position]
        return keys.withUnsafeBufferPointer { keys in
            body(UnsafeBufferPointer(rebasing: keys[entry.start..<entry.start + entry.count]))
        }
    }

    private func isKey(_ key: UnsafeBufferPointer<UInt8>, at position: Int) -> Bool {
        withKey(at: position) { known in
            guard known.count == key.count else { return false }
            guard let left = known.baseAddress, let right = key.baseAddress else { return key.isEmpty }
            return LineCursor.areSame(left, right, key.count)
        }
    }

    private mutating func removeAll() {
        for index in slots.indices { slots[index] = 0 }
        entries.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
        keys.removeAll(keepingCapacity: true)
    }

    /// Multiplication and a shift for each eight bytes; keys of an attacker may collide, which costs a table of at most
    /// `capacity`.
    private static func hash(_ key: UnsafeBufferPointer<UInt8>) -> UInt64 {
        let bytes = UnsafeRawBufferPointer(key)
        var hash = UInt64(truncatingIfNeeded: bytes.count) &* 0x9E37_79B9_7F4A_7C15
        var offset = 0
        while offset + 8 <= bytes.count {
            hash = (hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* 0xBF58_476D_1CE4_E5B9
            hash ^= hash >> 29
            offset += 8
        }
        var tail: UInt64 = 0
        if offset > 0 {
            // The last word overlaps the one before.
            tail = bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
        } else {
            for byte in bytes { tail = tail << 8 | UInt64(byte) }
        }
        hash = (hash ^ tail) &* 0x94D0_49BB_1331_11EB
        return hash ^ hash >> 31
    }
}
