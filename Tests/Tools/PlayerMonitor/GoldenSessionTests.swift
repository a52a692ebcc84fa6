import Foundation
import Instrument
import InstrumentBackends
import InstrumentProbe
import InstrumentTestKit
import TestTraits
import Testing

@Suite("The sample's session", .ownThread)
struct GoldenSessionTests {
    static let golden = Sample.root + "/Tests/Tools/PlayerMonitor/Golden/three-renditions.ndjson"

    /// The JSON lines of the sample's session under a virtual clock.
    static func play() async throws -> String {
        let output = Lock<[UInt8]>([])
        let backend = ConsoleBackend(format: .jsonLines) { bytes in
            output.withLock { $0 += bytes }
            return true
        }
        let clock = VirtualClock()
        let instrument = Instrument(
            hub: CoreHub(),
            metricalc: CoreMetricalc(),
            backends: [backend],
            store: InMemoryStore(randomness: RandomSource(SeededGenerator(seed: 2))),
            clock: clock,
            deliveryClock: SystemClock(),
            randomness: RandomSource(SeededGenerator(seed: 1))
        )
        let probe = Probe(MediaSource(Sample.path), clock: clock)
        instrument.add(PlayerTracker(probe))
        instrument.ready()
        #expect(probe.playThrough(advancing: clock) == .ended)
        #expect(await instrument.shutdown(timeout: .seconds(1800)))
        return String(decoding: output.withLock { $0 }, as: UTF8.self)
            .replacingOccurrences(of: Sample.path, with: "SAMPLE")
            .replacingOccurrences(of: "\"\(InstrumentVersion.current)\"", with: "\"VERSION\"")
    }

    @Test("The sample's session equals the golden one, byte for byte (to update it: UPDATE_GOLDEN=1)")
    func golden() async throws {
        let played = try await Self.play()
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
            try played.write(toFile: Self.golden, atomically: true, encoding: .utf8)
        }
        let expected = try String(contentsOfFile: Self.golden, encoding: .utf8)
        let (lines, goldenLines) = (played.split(separator: "\n"), expected.split(separator: "\n"))
        #expect(lines.count == goldenLines.count)
        for (line, goldenLine) in zip(lines, goldenLines) where line != goldenLine {
            #expect(line == goldenLine)
        }
    }

    @Test("Metrics recomputed from the golden session's events equal those computed live")
    func replay() throws {
        var reader = try SampleFileReader(path: Self.golden)
        var (live, replayed): ([Metric], [Metric]) = ([], [])
        var metricalc = CoreMetricalc()
        while let record = try reader.next() {
            switch record.sample {
            case .metric(let metric): live.append(metric)
            case .event(let event): metricalc.process(event, into: &replayed)
            }
        }
        #expect(reader.problems.isEmpty)
        #expect(live.count == 8)
        #expect(live == replayed)
    }
}
