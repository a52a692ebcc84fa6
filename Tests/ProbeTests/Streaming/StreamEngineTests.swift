import Foundation
import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentProbe

@Suite("Streams in virtual time")
struct StreamEngineTests {
    private static func resource(_ folder: Result<String, FixtureError>) throws -> @Sendable (String) -> [UInt8]? {
        let folder = try folder.get()
        return { path in
            let name = path.split(separator: "/").last.map(String.init) ?? ""
            return (try? Fixtures.data(folder + "/" + name)).map { [UInt8]($0) }
        }
    }

    @Test("A stream that comes fast is played to its end, each thing fetched once and in order")
    func plain() async throws {
        let clock = VirtualClock()
        let network = SimulatedNetwork(
            clock: clock,
            bandwidth: [(0, 8_000_000)],
            resource: try Self.resource(Fixtures.hlsTS)
        )
        let configuration = ProbeConfiguration(profile: .plain())
        let played = await playStream("/media.m3u8", over: network, clock, configuration)
        #expect(network.names == ["media.m3u8"] + (0..<6).map { "media\($0).ts" })
        // 281 bytes of playlist and 67,304 of the first segment at 1 byte a µs.
        #expect(
            played.story == [
                "MediaRequest 0", "PrepareItem 0", "ManifestLoad 0", "StreamLoad 0", "BufferBegin 0", "BufferFinish 67",
                "Start 67",
                "End 12067",
            ]
        )
        #expect(played.outcome == .ended)
    }
}
