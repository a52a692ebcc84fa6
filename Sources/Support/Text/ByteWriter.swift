/// Bytes that are written one after another, in memory that grows.
///
/// In place of `[UInt8]` for what every sample passes: an array checks for each piece whether it is shared and whether
/// it has room. A writer is never shared, and has room for several pieces after one check.
package struct ByteWriter: ~Copyable, @unchecked Sendable {
    // Sendable, and safe: only the writer knows its memory, and a writer is not copyable, so that a change has the
    // memory alone, and `deinit` releases it once. Every write begins with `room(for:)`, which returns the place behind
    // the last byte with that much memory; `count` grows only over bytes that were written, and never beyond
    // `capacity`.
    @usableFromInline private(set) var memory: UnsafeMutablePointer<UInt8>
    @usableFromInline private(set) var capacity: Int
    /// The number of bytes.
    @usableFromInline package private(set) var count = 0

    /// Creates a writer with memory for `capacity` bytes.
    package init(capacity: Int) {
        self.capacity = max(64, capacity)
        memory = .allocate(capacity: self.capacity)
    }

    deinit { memory.deallocate() }

    /// A copy of the bytes.
    package var bytes: [UInt8] { Array(UnsafeBufferPointer(start: memory, count: count)) }

    /// Calls `body` with the bytes, in place.
    @inlinable
    package borrowing func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: memory, count: count))
    }

    /// Returns the place behind the last byte, with memory for at least `size` bytes. Valid until the next change;
    /// what is written there counts after ``advance(by:)``.
    @inlinable @inline(__always)
    package mutating func room(for size: Int) -> UnsafeMutablePointer<UInt8> {
        if size > capacity - count { grow(for: size) }
        return memory + count
    }

    /// Counts bytes that were written to the room.
    @inlinable @inline(__always)
    package mutating func advance(by written: Int) {
        assert(written >= 0 && written <= capacity - count)
        count += written
    }

    @usableFromInline @inline(never)
    mutating func grow(for size: Int) {
        let grown = max(count + size, capacity * 2)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: grown)
        moved.moveInitialize(from: memory, count: count)
        memory.deallocate()
        (memory, capacity) = (moved, grown)
    }

    /// Replaces a byte.
    package mutating func replace(at position: Int, with byte: UInt8) {
        precondition(position >= 0 && position < count, "there is no byte \(position)")
        memory[position] = byte
    }

    /// Inserts a byte before a position; those behind it move.
    package mutating func insert(_ byte: UInt8, at position: Int) {
        precondition(position >= 0 && position <= count, "there is no byte \(position)")
        _ = room(for: 1)
        (memory + position + 1).update(from: memory + position, count: count - position)
        (memory + position).initialize(to: byte)
        advance(by: 1)
    }

    // MARK: Pieces

    @inlinable @inline(__always)
    package mutating func append(_ byte: UInt8) {
        room(for: 1).initialize(to: byte)
        advance(by: 1)
    }

    @inlinable
    package mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        // Nil has no bytes.
        guard let start = bytes.baseAddress else { return }
        room(for: bytes.count).initialize(from: start, count: bytes.count)
        advance(by: bytes.count)
    }

    @inlinable
    package mutating func append(_ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { append($0) } }

    /// Appends a text that stands in the source.
    @inlinable
    package mutating func append(_ text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends the UTF-8 bytes of a text.
    @inlinable
    package mutating func append(_ text: String) {
        // Texts that are bridged from another world have no contiguous bytes.
        if text.utf8.withContiguousStorageIfAvailable({ append($0) }) == nil { append(Array(text.utf8)) }
    }

    /// Appends an integer in decimal digits.
    @inlinable
    package mutating func append(decimal number: Int) {
        // 2^63 has 19 digits, before them the sign.
        var place = room(for: 20)
        if number < 0 {
            place.initialize(to: UInt8(ascii: "-"))
            place += 1
        }
        let digits = DecimalDigits.count(of: number.magnitude)
        DecimalDigits.write(number.magnitude, endingAt: place + digits)
        advance(by: digits + (number < 0 ? 1 : 0))
    }
}

/// The decimal digits of a number, two at a time.
@usableFromInline
package enum DecimalDigits {
    /// The number of digits.
    @inlinable
    package static func count(of number: UInt) -> Int {
        if number >= 100_000_000 { return 8 + count(of: number / 100_000_000) }
        if number >= 10_000 { return number >= 1_000_000 ? number >= 10_000_000 ? 8 : 7 : number >= 100_000 ? 6 : 5 }
        return number >= 100 ? number >= 1000 ? 4 : 3 : number >= 10 ? 2 : 1
    }

    /// Writes the digits before `end`, where ``count(of:)`` bytes must be ours.
    @inlinable
    package static func write(_ number: UInt, endingAt end: UnsafeMutablePointer<UInt8>) {
        var (rest, end) = (number, end)
        while rest >= 100 {
            let pair = Int(truncatingIfNeeded: rest % 100)
            rest /= 100
            end -= 2
            // `pair` is below 100, and `pairs` has 200 bytes.
            end.initialize(from: pairs.utf8Start + 2 * pair, count: 2)
        }
        if rest >= 10 {
            (end - 2).initialize(from: pairs.utf8Start + 2 * Int(rest), count: 2)
        } else {
            (end - 1).initialize(to: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest))
        }
    }

    /// The numbers below 100, with two digits each.
    @inlinable
    static var pairs: StaticString {
        """
        00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748\
        4950515253545556575859606162636465666768697071727374757677787980818283848586878889909192939495969798\
        99
        """
    }
}
