internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Whole pages for the body of a response, outside the heaps of the allocator.
///
/// Bodies of segments are large and short-lived. In a heap, one small value behind them keeps the memory of all: after
/// two thousand streams had started at once, glibc kept 0.25 MB for each (`docs/measurements.md`).
final class PageBlock: @unchecked Sendable {
    // Sendable: `FetchBuffer` writes each byte once, under its lock, before its count includes the byte. Readers have
    // the count from under that lock.

    let start: UnsafeMutableRawPointer
    let capacity: Int
    private let memory: PageMemory

    fileprivate init(_ start: UnsafeMutableRawPointer, _ capacity: Int, _ memory: PageMemory) {
        (self.start, self.capacity, self.memory) = (start, capacity, memory)
    }

    deinit { memory.takeBack(start, capacity) }
}

/// Blocks of pages that are used again, because new pages cost more than the bytes in them. What nobody needed for ten
/// seconds, longer than most segments last, goes back to the system. Thread-safe.
final class PageMemory: Sendable {
    /// The smallest block.
    static let leastCapacity = 128 << 10
    /// The memory of the whole process.
    static let shared = PageMemory(clock: SystemClock())

    /// The time in which every block that is needed is needed once.
    private static let period = Duration.seconds(10)
    /// The blocks that go back to the system at once, and the pause until the next ones, so that nobody waits.
    private static let most = (count: 16, pause: Duration.milliseconds(10))

    private let clock: any SchedulingClock
    private let spares = Lock(SpareBlocks())

    init(clock: any SchedulingClock) { self.clock = clock }

    deinit {
        for (address, capacity) in spares.withLock({ $0.popAll() }) { Self.unmap(address, capacity) }
    }

    /// The bytes that wait for their next use.
    var spareBytes: Int { spares.withLock(\.bytes) }

    /// A block of at least `count` bytes, a power of two; nil if the system has no memory.
    func block(of count: Int) -> PageBlock? {
        guard count <= Int.max / 4 else { return nil }
        var capacity = Self.leastCapacity
        while capacity < count { capacity *= 2 }
        let spare = spares.withLock { $0.pop(capacity) }
        let start = spare.flatMap { UnsafeMutableRawPointer(bitPattern: $0) } ?? Self.map(capacity)
        return start.map { PageBlock($0, capacity, self) }
    }

    fileprivate func takeBack(_ start: UnsafeMutableRawPointer, _ capacity: Int) {
        let isFirst = spares.withLock { spares in
            spares.push(UInt(bitPattern: start), capacity)
            defer { spares.isWatched = true }
            return !spares.isWatched
        }
        if isFirst { release(after: Self.period) }
    }

    private func release(after delay: Duration) {
        // Nothing cancels it: it ends by itself when there is nothing to release.
        _ = clock.schedule(at: clock.now.advanced(by: delay)) { [weak self] in self?.release() }
    }

    /// Gives surplus blocks back to the system, and comes again while there may be more.
    private func release() {
        let (blocks, isWatched, hasMore) = spares.withLock { spares in
            let blocks = spares.popSurplus(atMost: Self.most.count)
            return (blocks, spares.isWatched, spares.hasSurplus)
        }
        for (address, capacity) in blocks { Self.unmap(address, capacity) }
        if isWatched { release(after: hasMore ? Self.most.pause : Self.period) }
    }

    private static func map(_ capacity: Int) -> UnsafeMutableRawPointer? {
        let start = mmap(nil, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
        return start == MAP_FAILED ? nil : start
    }

    private static func unmap(_ address: UInt, _ capacity: Int) {
        if let start = UnsafeMutableRawPointer(bitPattern: address) { munmap(start, capacity) }
    }
}

/// Blocks that wait for their next use, and how many of them nobody needed in a period.
private struct SpareBlocks {
    /// Addresses by capacity; the last one was used last.
    private var addresses: [Int: [UInt]] = [:]
    private(set) var bytes = 0
    /// The least number of bytes in the present period.
    private var leastBytes = 0
    /// The bytes of the last period's surplus that are still here.
    private var surplus = 0
    /// Whether somebody will ask for the surplus.
    var isWatched = false

    mutating func push(_ address: UInt, _ capacity: Int) {
        addresses[capacity, default: []].append(address)
        bytes += capacity
    }

    mutating func pop(_ capacity: Int) -> UInt? {
        guard let address = addresses[capacity]?.popLast() else { return nil }
        bytes -= capacity
        leastBytes = min(leastBytes, bytes)
        return address
    }

    /// Whether blocks of the last period's surplus are still here.
    var hasSurplus: Bool { surplus > 0 }

    /// Blocks of the surplus, those that were not used for the longest time. After the last ones, a new period begins.
    mutating func popSurplus(atMost count: Int) -> [(address: UInt, capacity: Int)] {
        if surplus == 0 { (surplus, leastBytes) = (leastBytes, bytes) }
        var blocks: [(address: UInt, capacity: Int)] = []
        while blocks.count < count, let capacity = addresses.first(where: { !$1.isEmpty && $0 <= surplus })?.key {
            guard let address = addresses[capacity]?.removeFirst() else { break }
            (bytes, surplus, leastBytes) = (bytes - capacity, surplus - capacity, leastBytes - capacity)
            blocks.append((address, capacity))
        }
        if blocks.count < count { surplus = 0 }
        isWatched = bytes > 0
        return blocks
    }

    mutating func popAll() -> [(address: UInt, capacity: Int)] {
        defer { (addresses, bytes) = ([:], 0) }
        return addresses.flatMap { capacity, addresses in addresses.map { ($0, capacity) } }
    }
}
