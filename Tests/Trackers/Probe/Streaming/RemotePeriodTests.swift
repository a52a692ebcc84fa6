import Instrument
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Periods that are elsewhere", .ownThread)
struct RemotePeriodTests {
    private static let content = """
        <AdaptationSet mimeType="video/mp4"><SegmentTemplate timescale="1" duration="2" startNumber="0" \
        initialization="init.mp4" media="media$Number$.m4s"/><Representation id="a" bandwidth="100000"/></AdaptationSet>
        """
    private static let period = "<Period duration=\"PT6S\">\(content)</Period>"
    private static let manifest = """
        <MPD xmlns:xlink="http://www.w3.org/1999/xlink" type="static" mediaPresentationDuration="PT18S">\(period)\
        <Period xlink:href="second.xml" xlink:actuate="onLoad"/>\(period)</MPD>
        """

    private func play(_ files: [String: String]) async throws -> (played: Played, names: [String]) {
        let folder = try Fixtures.hlsMP4.get()
        let clock = VirtualClock()
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 80_000_000)]) { path in
            if path == "/film.mpd" { return Array(Self.manifest.utf8) }
            if let text = files[path] { return Array(text.utf8) }
            return (try? Fixtures.data(folder + path)).map { [UInt8]($0) }
        }
        let played = await playStream("/film.mpd", over: network, clock, ProbeConfiguration(profile: .plain()))
        return (played, network.names)
    }

    private func complaints(_ played: Played) -> Int {
        played.all(.streamWarning).count { $0.attributes[.warningCode] == "notSupported" }
    }

    @Test("A remote period is loaded before the first segment, and all periods play")
    func plays() async throws {
        let (played, names) = try await play(["/second.xml": Self.period])
        #expect(names.prefix(3) == ["film.mpd", "second.xml", "init.mp4"], "\(names)")
        #expect(played.outcome == .ended && names.filter { $0 == "media2.m4s" }.count == 3, "\(names)")
        #expect(complaints(played) == 0)
    }

    @Test("A period that a remote element refers to is loaded, too")
    func nested() async throws {
        let outer = "<Period xmlns:xlink=\"http://www.w3.org/1999/xlink\" xlink:href=\"inner.xml\"/>"
        let (played, names) = try await play(["/second.xml": "\(outer)\(Self.period)", "/inner.xml": Self.period])
        #expect(names.prefix(3) == ["film.mpd", "second.xml", "inner.xml"], "\(names)")
        #expect(played.outcome == .ended && names.filter { $0 == "media2.m4s" }.count == 4, "\(names)")
    }

    @Test("A remote period that fails is a warning, and the others play")
    func failure() async throws {
        let (played, names) = try await play([:])
        #expect(played.outcome == .ended && names.filter { $0 == "media2.m4s" }.count == 2, "\(names)")
        #expect(complaints(played) == 1, "\(played.story)")
    }
}
