import Instrument
import Testing

@testable import InstrumentQuality

@Suite("Spans that the hub reports")
struct HubSpanTests {
    @Test(
        "A span of which no event is missing at first sight misses none",
        arguments: [Action.bufferBegin, .bufferFinish, .ping, .end]
    )
    func complete(action: Action) {
        let time = Timestamp(
            instant: MonotonicInstant(nanoseconds: 90_000_000_000),
            wallTime: WallTime(milliseconds: 1_795_353_396_000)
        )
        var completeCount = 0
        for age in [nil, 0, 500, 40_000] as [Int?] {
            var event = Event(action, tracker: TrackerID(0), time: time)
            event[Action.bufferBegin.timeKey] = age
            event[Action.bufferFinish.timeKey] = age.map { $0 / 2 }
            for block in [nil, false, true] as [Bool?] {
                for openSince in [nil, 30_000_000_000] as [Int64?] {
                    for sumBefore in [nil, 0, 700] as [Int?] {
                        for sumAfter in [nil, 0, 700, 1900] as [Int?] {
                            let span = HubSpan(
                                begin: .bufferBegin,
                                finish: .bufferFinish,
                                block: block,
                                openSince: openSince.map { MonotonicInstant(nanoseconds: $0) },
                                sumBefore: sumBefore,
                                sumAfter: sumAfter
                            )
                            guard span.isComplete(before: event) else { continue }
                            completeCount += 1
                            let last = MonotonicInstant(nanoseconds: 60_000_000_000)
                            #expect(span.lost(before: event, after: last).isEmpty, "\(span)")
                        }
                    }
                }
            }
        }
        #expect(completeCount > 0)
    }
}
