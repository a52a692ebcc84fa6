internal import Synchronization

/// Blocks of memory for the attributes of events, used again.
///
/// The attributes of an event take more than the 1,032 bytes up to which glibc keeps freed blocks for each thread, and
/// another thread frees them. At times, an allocation has to join and to sort what was freed: one emit in fifty took
/// 7 µs more (`docs/measurements.md`). Here, a block costs one exchange of a flag.
///
/// Thread-safe, and nobody waits: where another thread is inside, the allocator serves. Blocks stay for the life of the
/// process, as many as were in use at once, at most `limit`.
final class AttributeMemory: @unchecked Sendable {
    // Sendable, because `spares` and `count` are used only between `claim` and `leave`, by one thread at a time, and
    // what a thread stored before it left is visible to the next one (acquiring and releasing).

    /// The bytes of a block, and their alignment.
    static let (blockSize, alignment) = (1536, 16)
    /// Blocks of the whole process, at most 1.6 MB.
    static let shared = AttributeMemory(limit: 1024)

    private let isBusy = Atomic<Bool>(false)
    private let spares: UnsafeMutablePointer<UnsafeMutableRawPointer>
    private var count = 0
    private let limit: Int

    /// Creates a memory that keeps at most `limit` blocks.
    init(limit: Int) {
        self.limit = limit
        spares = .allocate(capacity: limit)
    }

    deinit {
        for index in 0..<count { spares[index].deallocate() }
        spares.deallocate()
    }

    /// The number of blocks that wait for their next use.
    var spareCount: Int {
        guard claim() else { return 0 }
        defer { leave() }
        return count
    }

    /// A block in which nothing is initialized.
    func take() -> UnsafeMutableRawPointer {
        if claim() {
            defer { leave() }
            if count > 0 {
                count -= 1
                return spares[count]
            }
        }
        return .allocate(byteCount: Self.blockSize, alignment: Self.alignment)
    }

    /// Takes a block back in which nothing is initialized any more.
    func giveBack(_ block: UnsafeMutableRawPointer) {
        if claim() {
            defer { leave() }
            if count < limit {
                spares[count] = block
                count += 1
                return
            }
        }
        block.deallocate()
    }

    @inline(__always)
    private func claim() -> Bool { !isBusy.exchange(true, ordering: .acquiring) }

    @inline(__always)
    private func leave() { isBusy.store(false, ordering: .releasing) }
}
