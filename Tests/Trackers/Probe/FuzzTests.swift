import Foundation
import Instrument
import InstrumentProbe
import InstrumentTestKit
import TestTraits
import Testing

@Suite("Damaged media", .ownThread, .timeLimit(.minutes(30)))
struct FuzzTests {
    static let films = [Fixtures.mp4, Fixtures.ts, Fixtures.mkv, Fixtures.webm, Fixtures.ogg, Fixtures.flv]

    @Test("Files with flipped bytes or cut ends finish with an end or an error", arguments: films)
    func damage(_ path: Result<String, FixtureError>) async throws {
        let whole = [UInt8](try Fixtures.data(try path.get()))
        var random = SeededGenerator(seed: UInt64(whole.count))
        for round in 0..<40 {
            var bytes = whole
            if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
            // Headers are at the beginning: half of the damage is there.
            let reach = Bool.random(using: &random) ? min(2000, bytes.count) : bytes.count
            for _ in 0..<Int.random(in: 1...40, using: &random) where reach > 0 {
                bytes[Int.random(in: 0..<reach, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let file = try Fixtures.file(Data(bytes))
            defer { try? FileManager.default.removeItem(atPath: file) }
            let clock = VirtualClock()
            let probe = Probe(MediaSource(file), clock: clock)
            let outcome = probe.playThrough(advancing: clock)
            switch outcome {
            case .ended, .failed: break
            default: Issue.record("round \(round): \(String(describing: outcome))")
            }
        }
    }
}
