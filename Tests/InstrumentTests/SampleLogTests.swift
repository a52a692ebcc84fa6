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
                let part = Array(log.part(from: UInt64(start), maxCount: count))
                #expect(part == (min(start, 512)..<min(512, start + count)).map { sample($0) })
            }
        }
        #expect(log.sample(UInt64(trimmed)) == (trimmed < 512 ? sample(trimmed) : nil))
        #expect(trimmed == 0 || log.sample(UInt64(trimmed - 1)) == nil)
    }

    @Test("Long appending and trimming keeps memory constant and numbers correct")
    func long() {
        var log = SampleLog()
        for number in 0..<100_000 {
            log.append(sample(number), size: 1)
            if number % 50 == 49 { _ = log.trim(to: UInt64(number - 10), bytes: number - 10) }
        }
        #expect(log.count == 11)
        #expect(Array(log.part(from: log.start, maxCount: 100)) == (99_989..<100_000).map { sample($0) })
    }
}
