import CostMeasurement
import Instrument
import InstrumentAds
import Testing

@testable import InstrumentProbe

@Suite("Breaks that a stream marks")
struct MarkedBreakTests {
    private static func signal(
        _ source: AdSignal.Source,
        _ kind: AdSignal.Kind,
        _ id: String?,
        _ second: Double,
        _ duration: Double? = nil
    ) -> AdSignal {
        var signal = AdSignal(source, kind)
        (signal.id, signal.position) = (id, Int64(second * 1e9))
        signal.duration = duration.map { Int64($0 * 1e9) }
        return signal
    }

    private static func seconds(_ signals: [[AdSignal]]) -> [Int64] {
        var marks = MarkedBreaks()
        for found in signals { marks.add(found) }
        return marks.positions.map { $0 / 1_000_000_000 }
    }

    @Test(
        "A break counts once",
        arguments: [
            // Two carriers, of which one states a wrong duration.
            (
                [
                    signal(.cueOut, .breakBegin, nil, 2, 2), signal(.oatcls, .breakBegin, "7", 2, 60),
                    signal(.cueIn, .breakEnd, nil, 4), signal(.cueOut, .breakBegin, nil, 10, 2),
                ], [2, 10]
            ),
            // Two ads in a placement opportunity, then another opportunity.
            (
                [
                    signal(.oatcls, .breakBegin, "1", 2, 8), signal(.oatcls, .breakBegin, "10", 2, 4),
                    signal(.oatcls, .breakEnd, "10", 6), signal(.oatcls, .breakBegin, "11", 6, 4),
                    signal(.oatcls, .breakEnd, "11", 10), signal(.oatcls, .breakEnd, "1", 10),
                    signal(.oatcls, .breakBegin, "2", 20, 8),
                ], [2, 20]
            ),
            // Ads that follow each other, without durations.
            (
                [
                    signal(.eventMessage, .breakBegin, "1", 2), signal(.eventMessage, .breakEnd, "1", 6),
                    signal(.eventMessage, .breakBegin, "2", 6.2), signal(.eventMessage, .breakEnd, "2", 10),
                    signal(.eventMessage, .breakBegin, "3", 12),
                ], [2, 12]
            ),
            // A break that returns by itself, then another one; commands are repeated.
            (
                [
                    signal(.transportStream, .breakBegin, "1", 2, 4),
                    signal(.transportStream, .breakBegin, "1", 2.4, 4),
                    signal(.transportStream, .breakBegin, "2", 12, 4), signal(.transportStream, .other, "3", 30),
                ], [2, 12]
            ),
            // An end without a begin marks no break, and hides none.
            ([signal(.cueIn, .breakEnd, nil, 4), signal(.cueOut, .breakBegin, nil, 8, 2)], [8]),
        ] as [([AdSignal], [Int64])]
    )
    func counting(signals: [AdSignal], expected: [Int64]) {
        #expect(Self.seconds([signals]) == expected)
        // In any order of arrival, and again with every reload.
        #expect(Self.seconds(signals.reversed().map { [$0] } + [signals]) == expected)
    }

    @Test("Any number of signals at one position costs time in proportion to their number")
    func cost() {
        let growth = CostGrowth.measure(
            from: 200,
            making: { count in (0..<count).map { Self.signal(.oatcls, .breakBegin, "\($0)", 2, 60) } },
            { signals in
                var marks = MarkedBreaks()
                for _ in 0..<3 { marks.add(signals) }
            }
        )
        #expect(growth.isLinear, "\(growth)")
    }

    @Test("Signals beyond the limit are left out, in a time that does not grow with every reload")
    func crowd() {
        let signals = (0..<12_000).map { Self.signal(.cueOut, .breakBegin, nil, Double($0) * 4, 2) }
        #expect(Self.seconds([signals, signals]).count == 10_000)
    }
}
