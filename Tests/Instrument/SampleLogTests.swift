import Testing

@testable import Instrument

@Suite("Sample log")
struct SampleLogTests {
    @Test(
        "Any range reads the appended samples, after any trims",
        arguments: [0, 1, 127, 128, 129, 400, 511]
    )
    func parts(trimmed: Int) {
        var log = SampleLog()
        for number in 0..<512 { log.append(sample(number), size: 10) }
        let freed = log.trim(to: UInt64(trimmed), bytes: trimmed * 10)
        #expect(freed.count == trimmed / 128)
        #expect((log.start, log.end, log.count, log.byteEnd) == (UInt64(trimmed), 512, 512 - trimmed, 5120))
        for start in [trimmed, trimmed + 1, 511, 512] {
            for count in [0, 1, 5, 128, 129, 600] {
                let part = log.part(from: UInt64(start), maxCount: count).samples
                #expect(part == (min(start, 512)..<min(512, start + count)).map { sample($0) })
            }
        }
        #expect(log.sample(UInt64(trimmed)) == (trimmed < 512 ? sample(trimmed) : nil))
        #expect(trimmed == 0 || log.sample(UInt64(trimmed - 1)) == nil)
    }

    @Test(
        "The backlog of a range is the sum of its samples when samples are erased and trimmed",
        arguments: [false, true]
    )
    func backlogs(isErasing: Bool) {
        var log = SampleLog()
        let sizes = (0..<700).map { 1 + $0 * 7 % 31 }
        for number in 0..<700 { log.append(sample(number), size: sizes[number]) }
        let erased: Set<UInt64> = isErasing ? [3, 127, 128, 300, 301, 698] : []
        log.erase(erased.sorted())
        _ = log.trim(to: 5, bytes: sizes[..<5].reduce(0, +))
        for range: Range<UInt64> in [5..<5, 5..<6, 5..<700, 100..<400, 127..<129, 640..<700, 699..<700, 700..<700] {
            let kept = range.filter { !erased.contains($0) }
            let expected = Backlog(count: kept.count, bytes: kept.reduce(0) { $0 + sizes[Int($1)] })
            #expect(log.backlog(in: range) == expected)
        }
        #expect(log.size(of: 300) == (isErasing ? 0 : sizes[300]))
        #expect((log.size(of: 4), log.size(of: 699), log.size(of: 700)) == (0, sizes[699], 0))
    }

    @Test("A log with spare memory keeps the same samples")
    func spares() {
        var log = SampleLog()
        for number in 0..<5_000 {
            if number % 500 == 0 { _ = log.keep((0..<log.missingSpares()).map { _ in SpareChunks.Memory() }) }
            log.append(sample(number), size: 1)
        }
        #expect(log.part(from: 0, maxCount: 5_000).samples == (0..<5_000).map { sample($0) })
        #expect(log.backlog(in: 0..<5_000) == Backlog(count: 5_000, bytes: 5_000))
    }

    @Test(
        "The number of spares follows a burst of any length, and falls to its minimum after the burst",
        arguments: [16, 300]
    )
    func spareCount(burst: Int) {
        var spares = SpareChunks()
        func refill(inUse: Int) {
            let missing = spares.missing(inUse: inUse)
            #expect(spares.keep((0..<missing).map { _ in SpareChunks.Memory() }).isEmpty)
        }
        for inUse in 1...burst { _ = spares.take(inUse: inUse) }
        #expect(spares.wanted == min(burst, SpareChunks.limits.upperBound))
        refill(inUse: burst)
        #expect(spares.count == spares.wanted)
        var rounds = 0
        while spares.wanted > SpareChunks.limits.lowerBound, rounds < 1000 {
            let missing = spares.missing(inUse: 0)
            _ = spares.keep((0..<missing).map { _ in SpareChunks.Memory() })
            rounds += 1
        }
        #expect((spares.count, spares.wanted) == (8, 8))
        #expect(rounds < 64)
    }

    @Test("Long appending and trimming keeps memory constant and numbers correct")
    func long() {
        var log = SampleLog()
        for number in 0..<100_000 {
            log.append(sample(number), size: 1)
            if number % 50 == 49 { _ = log.trim(to: UInt64(number - 10), bytes: number - 10) }
        }
        #expect(log.count == 11)
        #expect(log.part(from: log.start, maxCount: 100).samples == (99_989..<100_000).map { sample($0) })
    }
}
