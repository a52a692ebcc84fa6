/// Samples in order, in chunks: what is full is only shared from then on, so that a reader takes a reference instead of
/// a copy, and freeing a chunk frees many samples at once.
struct SampleLog {
    /// A full chunk.
    final class Chunk: Sendable {
        let samples: ContiguousArray<Sample>
        init(_ samples: ContiguousArray<Sample>) { self.samples = samples }
    }

    private static var chunkSize: Int { 128 }
    /// Stands where a chunk was.
    private static let nothing = Chunk([])

    /// The number of the first sample that is kept.
    private(set) var start: UInt64 = 0
    /// The size of all samples before `start`, and of all samples ever.
    private(set) var byteStart = 0
    private(set) var byteEnd = 0
    private var chunks: ContiguousArray<Chunk> = []
    /// The chunks before this index are no longer wanted.
    private var head = 0
    /// The number of the first sample in the chunk at `head`, or in `open` if there is none.
    private var headStart: UInt64 = 0
    private var open: ContiguousArray<Sample> = []

    var end: UInt64 { headStart + UInt64((chunks.count - head) * Self.chunkSize + open.count) }
    var count: Int { Int(end - start) }

    /// Adds a sample of the given size.
    mutating func append(_ sample: Sample, size: Int) {
        byteEnd += size
        open.append(sample)
        if open.count < Self.chunkSize { return }
        chunks.append(Chunk(open))
        open = []
        open.reserveCapacity(Self.chunkSize)
    }

    /// The sample with that number, if it is kept.
    func sample(_ sequence: UInt64) -> Sample? {
        guard sequence >= start, sequence < end else { return nil }
        let (chunk, index) = place(of: sequence)
        return chunk < chunks.count ? chunks[chunk].samples[index] : open[index]
    }

    /// The size of samples that are kept.
    func bytes(in range: Range<UInt64>) -> Int {
        range.reduce(0) { $0 + (sample($1)?.estimatedSize ?? 0) }
    }

    /// Samples from a number on; takes time by the chunk, not by the sample.
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

    /// Forgets samples before `sequence`, which `bytes` bytes come before; returns what nobody needs any more.
    mutating func trim(to sequence: UInt64, bytes: Int) -> [Chunk] {
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

    /// Some samples in a row, held without holding up the log.
    struct Part: Sequence {
        let chunks: [Chunk]
        let open: [Sample]
        let offset: Int
        let count: Int

        func makeIterator() -> AnyIterator<Sample> {
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
