import CostMeasurement
import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentProbe

@Suite("Markers ahead of the playhead")
struct PlaybackMarkersTests {
    @Test("Markers agree with a sorted list for random operations", arguments: 0..<40)
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let positions: [Int64] = [0, 1, 2, 3, 4, PlaybackMarker.endPosition]
        var list = (0..<30).map { number in
            PlaybackMarker(
                id: number,
                at: positions.randomElement(using: &generator) ?? 0,
                holds: Int.random(in: 0..<5, using: &generator) == 0
            )
        }
        var markers = PlaybackMarkers(list.shuffled(using: &generator))
        list.sort { ($0.position, $0.id) < ($1.position, $1.id) }
        while !list.isEmpty {
            #expect(markers.first == list.first)
            #expect(markers.firstHold == list.first { $0.holds })
            #expect(markers.firstAtEnd == list.first { $0.position == PlaybackMarker.endPosition })
            switch Int.random(in: 0..<6, using: &generator) {
            case 0:
                let position = positions.randomElement(using: &generator) ?? 0
                list.removeAll { $0.position < position }
                markers.drop(before: position)
            case 1:
                let marker = list.remove(at: Int.random(in: list.indices, using: &generator))
                markers.remove(marker)
            default: markers.remove(list.removeFirst())
            }
        }
        #expect(markers.first == nil && markers.firstHold == nil && markers.firstAtEnd == nil)
    }

    @Test("A playhead passes any number of markers at one position in time proportional to their number")
    func cost() {
        let growth = CostGrowth.measure(
            from: 500,
            making: { count in (0..<count).map { PlaybackMarker(id: $0, at: 1_000, holds: false) } },
            { markers in
                var model = PlaybackModel(
                    tracks: [.video],
                    policy: BufferPolicy(startThreshold: .zero, resumeThreshold: .zero, maximum: .seconds(10)),
                    now: MonotonicInstant(nanoseconds: 0)
                )
                model.setMarkers(markers, from: 0, now: MonotonicInstant(nanoseconds: 0))
                model.append(.video, end: 5_000_000_000, now: MonotonicInstant(nanoseconds: 0))
                let passed = model.advance(to: MonotonicInstant(nanoseconds: 1_000_000_000)).count
                #expect(passed >= markers.count)
            }
        )
        #expect(growth.isLinear, "\(growth)")
    }
}
