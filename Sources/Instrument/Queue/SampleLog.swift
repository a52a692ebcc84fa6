/// Samples in order, in chunks. A full chunk never changes, so that a reader takes a reference instead of a copy, and
/// freeing a chunk frees many samples at once. The position of an erased sample is empty.
struct SampleLog {
    /// A full chunk.
    final class Chunk: Sendable {
        let samples: ContiguousArray<Sample?>
        init(_ samples: ContiguousArray<Sample?>) { self.samples = samples }
    }

    private static var chunkSize: Int { 128 }
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
    private var open: ContiguousArray<Sample?> = []
    /// The number of erased samples between `start` and `end`.
    private(set) var erasedCount = 0

    var end: UInt64 { headStart + UInt64((chunks.count - head) * Self.chunkSize + open.count) }
    /// The number of stored samples.
    var count: Int { Int(end - start) - erasedCount }

    /// Appends a sample of the given size.
    mutating func append(_ sample: Sample, size: Int) {
        byteEnd += size
        open.append(sample)
        if open.count < Self.chunkSize { return }
        chunks.append(Chunk(open))
        open = []
        open.reserveCapacity(Self.chunkSize)
    }

    /// The sample with this sequence number; nil if it is not stored or was erased.
    func sample(_ sequence: UInt64) -> Sample? {
        guard sequence >= start, sequence < end else { return nil }
        let (chunk, index) = place(of: sequence)
        return chunk < chunks.count ? chunks[chunk].samples[index] : open[index]
    }

    /// The number and size of the stored samples in a range.
    func backlog(in range: Range<UInt64>) -> Backlog {
        range.reduce(into: Backlog()) { sum, sequence in
            guard let sample = sample(sequence) else { return }
            sum.count += 1
            sum.bytes += sample.estimatedSize
        }
    }

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
                chunks[chunk] = Chunk(erase(inChunk, from: chunks[chunk].samples))
            } else {
                open = erase(inChunk, from: open)
            }
        }
    }

    private mutating func erase(
        _ sequences: ArraySlice<UInt64>,
        from samples: ContiguousArray<Sample?>
    ) -> ContiguousArray<Sample?> {
        var samples = samples
        for sequence in sequences {
            let index = place(of: sequence).index
            if samples[index] != nil { erasedCount += 1 }
            samples[index] = nil
        }
        return samples
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
            open: offset + count > reached ? Array(open.prefix(offset + count - reached)) : [],
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
    struct Part: Sequence {
        let chunks: [Chunk]
        let open: [Sample?]
        let offset: Int
        let count: Int

        func makeIterator() -> AnyIterator<Sample?> {
            var index = offset
            let end = offset + count
            return AnyIterator {
                guard index < end else { return nil }
                defer { index += 1 }
                let chunk = index / SampleLog.chunkSize
                if chunk < chunks.count { return chunks[chunk].samples[index % SampleLog.chunkSize] }
                return open[index - chunks.count * SampleLog.chunkSize]
            }
        }
    }
}
