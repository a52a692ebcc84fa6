import CFFmpeg
import Testing

@testable import InstrumentProbe

@Suite("Timestamps of media")
struct TimestampTests {
    @Test("A timestamp is rounded to nanoseconds; an invalid base and a time beyond 146 years give no timestamp")
    func conversion() {
        #expect(AVRational(num: 1, den: 90_000).nanoseconds(90_001) == 1_000_011_111)
        #expect(AVRational(num: 1, den: 1).nanoseconds(-3) == -3_000_000_000)
        #expect(AVRational(num: 1, den: 1).nanoseconds(1_800_000_000) == 1_800_000_000_000_000_000)
        for stamp in [10_000_000_000, -10_000_000_000, Int64.max, .min, .min + 1] {
            #expect(AVRational(num: 1, den: 1).nanoseconds(stamp) == nil, "\(stamp)")
        }
        #expect(AVRational(num: 0, den: 1).nanoseconds(1) == nil)
        #expect(AVRational(num: 1, den: 0).nanoseconds(1) == nil)
        #expect(AVRational(num: -1, den: 1).nanoseconds(1) == nil)
    }
}
