/// Samples in order, in chunks. A full chunk never changes, so that a reader takes a reference instead of a copy, and
/// freeing a chunk frees many samples at once. The position of an erased sample is empty.
struct SampleLog {
    /// A position of the log. Keeps the size of its sample, so that nobody computes the size again.
    struct Entry: Sendable {
        /// The sample; nil once it is erased.
        var sample: Sample?
        let size: Int
        /// The size of all samples before it, erased or not, since the beginning of the log.
        let bytesBefore: Int
    }

    /// A full chunk.
    final class Chunk: Sendable {
        let entries: ContiguousArray<Entry>
        init(_ entries: ContiguousArray<Entry>) { self.entries = entries }
    }

    static var chunkSize: Int { 128 }
    /// Replaces a freed chunk.
    private static let nothing = Chunk([])

    /// The sequence number of the first stored sample.
    private(set) var start: UInt64 = 0
    /// The sizes of all samples before `start` and before `end`.
    private(set) var byteStart = 0
    private(set) var byteEnd = 0
    private var chunks: ContiguousArray<Chunk> = []
    /// The index of the first chunk in use.
    private var head = 0
    /// The sequence number of the first sample in the chunk at `head`, or in `open` without such a chunk.
    private var headStart: UInt64 = 0
    private var open: ContiguousArray<Entry> = []
    private var spares = SpareChunks()
    /// The number of erased samples between `start` and `end`.
    private(set) var erasedCount = 0

    var end: UInt64 { headStart + UInt64((chunks.count - head) * Self.chunkSize + open.count) }
    /// The number of stored samples.
    var count: Int { Int(end - start) - erasedCount }

    /// Appends samples with their estimated sizes.
    mutating func append(_ samples: [Sample]) {
        for index in samples.indices {
            // The only copy of the sample, which is moved from here on.
            let sample = samples[index]
            let size = sample.estimatedSize
            append(consume sample, size: size)
        }
    }

    /// Appends a sample of the given size.
    @inline(__always)
    mutating func append(_ sample: consuming Sample, size: Int) {
        open.append(Entry(sample: consume sample, size: size, bytesBefore: byteEnd))
        byteEnd += size
        if open.count < Self.chunkSize { return }
        chunks.append(Chunk(open))
        open = spares.take(inUse: chunks.count - head)
    }

    /// The number of chunks for which memory is to be created; call ``keep(_:)`` with it.
    mutating func missingSpares() -> Int { spares.missing(inUse: chunks.count - head) }

    /// Keeps memory for the next chunks. Returns what is too much, which the caller frees.
    mutating func keep(_ added: [SpareChunks.Memory]) -> [SpareChunks.Memory] { spares.keep(added) }

    /// The sample with this sequence number; nil if it is not stored or was erased.
    func sample(_ sequence: UInt64) -> Sample? {
        guard sequence >= start, sequence < end else { return nil }
        return entry(sequence).sample
    }

    /// The size of the sample with this sequence number; zero if it is not stored or was erased.
    func size(of sequence: UInt64) -> Int {
        guard sequence >= start, sequence < end, case let entry = entry(sequence), entry.sample != nil else { return 0 }
        return entry.size
    }

    private func entry(_ sequence: UInt64) -> Entry {
        let (chunk, index) = place(of: sequence)
        return chunk < chunks.count ? chunks[chunk].entries[index] : open[index]
    }

    /// The number and size of the stored samples in a range. Without erased samples, takes the same time for any range.
    func backlog(in range: Range<UInt64>) -> Backlog {
        let stored = range.clamped(to: start..<end)
        if stored.isEmpty { return Backlog() }
        if erasedCount == 0 {
            return Backlog(
                count: stored.count,
                bytes: bytes(before: stored.upperBound) - bytes(before: stored.lowerBound)
            )
        }
        return stored.reduce(into: Backlog()) { sum, sequence in
            if case let entry = entry(sequence), entry.sample != nil {
                sum.count += 1
                sum.bytes += entry.size
            }
        }
    }

    private func bytes(before sequence: UInt64) -> Int { sequence < end ? entry(sequence).bytesBefore : byteEnd }

    /// The first sequence number from `sequence` on that was not erased; the end if all were erased.
    func firstKept(from sequence: UInt64) -> UInt64 {
        if erasedCount == 0 { return sequence }
        var sequence = sequence
        while sequence < end, sample(sequence) == nil { sequence += 1 }
        return sequence
    }

    /// Erases the samples with the given sequence numbers, all samples of a chunk at once.
    mutating func erase(_ sequences: [UInt64]) {
        var rest = sequences[...]
        while let first = rest.first {
            let chunk = place(of: first).chunk
            let inChunk = rest.prefix { place(of: $0).chunk == chunk }
            rest = rest.dropFirst(inChunk.count)
            if chunk < chunks.count {
                chunks[chunk] = Chunk(erase(inChunk, from: chunks[chunk].entries))
            } else {
                open = erase(inChunk, from: open)
            }
        }
    }

    private mutating func erase(
        _ sequences: ArraySlice<UInt64>,
        from entries: ContiguousArray<Entry>
    ) -> ContiguousArray<Entry> {
        var entries = entries
        for sequence in sequences {
            let index = place(of: sequence).index
            if entries[index].sample != nil { erasedCount += 1 }
            entries[index].sample = nil
        }
        return entries
    }

    /// Samples from a sequence number on. Takes time in proportion to the number of chunks, not of samples.
    func part(from sequence: UInt64, maxCount: Int) -> Part {
        let count = min(max(0, maxCount), Int(end - min(end, sequence)))
        if count == 0 { return Part(chunks: [], open: [], offset: 0, count: 0) }
        let (first, offset) = place(of: max(sequence, start))
        let last = min(chunks.count, first + (offset + count - 1) / Self.chunkSize + 1)
        let reached = max(0, last - first) * Self.chunkSize
        return Part(
            chunks: first < last ? Array(chunks[first..<last]) : [],
            open: offset + count > reached ? ContiguousArray(open.prefix(offset + count - reached)) : [],
            offset: offset,
            count: count
        )
    }

    /// Removes the samples before `sequence`, whose size is `bytes`. Returns the chunks that are no longer in use.
    mutating func trim(to sequence: UInt64, bytes: Int) -> [Chunk] {
        if erasedCount > 0 { erasedCount -= Int(sequence - start) - backlog(in: start..<sequence).count }
        (start, byteStart) = (sequence, bytes)
        var freed: [Chunk] = []
        while head < chunks.count, headStart + UInt64(Self.chunkSize) <= sequence {
            freed.append(chunks[head])
            chunks[head] = Self.nothing
            head += 1
            headStart += UInt64(Self.chunkSize)
        }
        if head > 64, head * 2 > chunks.count {
            chunks.removeFirst(head)
            head = 0
        }
        return freed
    }

    private func place(of sequence: UInt64) -> (chunk: Int, index: Int) {
        let distance = Int(sequence - headStart)
        return (head + distance / Self.chunkSize, distance % Self.chunkSize)
    }

    /// Consecutive samples, retained without blocking the log.
    struct Part {
        let chunks: [Chunk]
        let open: ContiguousArray<Entry>
        let offset: Int
        let count: Int

        /// Passes each position to `body`, with its distance from the first one, until `body` returns false.
        @inline(__always)
        func forEach(_ body: (_ distance: Int, _ entry: Entry) -> Bool) {
            let chunkSize = SampleLog.chunkSize
            for distance in 0..<count {
                let (chunk, index) = (offset + distance).quotientAndRemainder(dividingBy: chunkSize)
                let isFull = chunk < chunks.count
                let goesOn =
                    isFull
                    ? body(distance, chunks[chunk].entries[index])
                    : body(distance, open[offset + distance - chunks.count * chunkSize])
                if !goesOn { return }
            }
        }

        /// The samples, in order.
        var samples: [Sample?] {
            var samples: [Sample?] = []
            forEach { _, entry in
                samples.append(entry.sample)
                return true
            }
            return samples
        }
    }
}
