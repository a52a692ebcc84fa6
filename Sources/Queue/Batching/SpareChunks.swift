/// Memory for the next chunks of a ``SampleLog``, created where nobody waits for it: after many small blocks were
/// freed, a block as large as a chunk costs the allocator several microseconds.
///
/// The number of spares follows the bursts of the app: it rises to the number of chunks that a burst filled, and falls
/// by a sixteenth whenever chunks were freed.
struct SpareChunks {
    /// Memory for a chunk, which nobody uses yet.
    struct Memory {
        fileprivate let entries: ContiguousArray<SampleLog.Entry>

        init() {
            var entries = ContiguousArray<SampleLog.Entry>()
            entries.reserveCapacity(SampleLog.chunkSize)
            self.entries = entries
        }
    }

    static let limits = 8...64
    private static let decay = 16

    private var memory: [Memory] = []
    /// The number of spares to keep.
    private(set) var wanted = limits.lowerBound

    var count: Int { memory.count }

    /// Takes the memory of a spare, or new memory where none is left.
    ///
    /// - Parameter inUse: the number of full chunks in the log.
    @inline(__always)
    mutating func take(inUse: Int) -> ContiguousArray<SampleLog.Entry> {
        if inUse > wanted { wanted = min(inUse, Self.limits.upperBound) }
        return (memory.popLast() ?? Memory()).entries
    }

    /// The number of spares that are missing now that chunks were freed.
    ///
    /// - Parameter inUse: the number of full chunks in the log.
    mutating func missing(inUse: Int) -> Int {
        let falling = wanted - (wanted + Self.decay - 1) / Self.decay
        wanted = min(max(falling, inUse, Self.limits.lowerBound), Self.limits.upperBound)
        return max(0, wanted - memory.count)
    }

    /// Keeps memory, up to the wanted number. Returns what is too much.
    mutating func keep(_ added: [Memory]) -> [Memory] {
        memory += added
        let surplus = max(0, memory.count - wanted)
        defer { memory.removeLast(surplus) }
        return Array(memory.suffix(surplus))
    }
}
