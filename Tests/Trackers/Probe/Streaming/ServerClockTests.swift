import Foundation
import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("The clock of a live MPD's server", .ownThread)
struct ServerClockTests {
    private static let scheme = "urn:mpeg:dash:utc:"

    private static func timing(_ scheme: String, _ value: String) -> String {
        "<UTCTiming schemeIdUri=\"\(Self.scheme)\(scheme):2014\" value=\"\(value)\"/>"
    }

    /// A stream of twelve seconds that begins at one o'clock.
    private static func manifest(_ timings: String) -> String {
        """
        <MPD type="dynamic" availabilityStartTime="1970-01-01T01:00:00Z" minimumUpdatePeriod="PT2S" \
        timeShiftBufferDepth="PT60S" suggestedPresentationDelay="PT2S"><Period id="p" start="PT0S">\
        <AdaptationSet mimeType="video/mp4"><SegmentTemplate timescale="1" duration="2" startNumber="0" \
        initialization="init.mp4" media="media$Number$.m4s"/><Representation id="a" bandwidth="100000"/>\
        </AdaptationSet></Period>\(timings)</MPD>
        """
    }

    /// Plays for seven seconds with a local clock that is an hour and ten seconds late; the server's shows 1:00:04.
    private func play(_ timings: String) async throws -> (played: Played, names: [String]) {
        let folder = try Fixtures.hlsMP4.get()
        let clock = VirtualClock(wallTime: WallTime(milliseconds: -6000))
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 80_000_000)]) { path in
            switch path {
            case "/live.mpd": return Array(Self.manifest(timings).utf8)
            case "/time": return Array("1970-01-01T01:00:04.000Z\n".utf8)
            case "/nonsense": return Array("tomorrow".utf8)
            default: return (try? Fixtures.data(folder + path)).map { [UInt8]($0) }
            }
        }
        let configuration = ProbeConfiguration(profile: .plain())
        let played = await playStream("/live.mpd", over: network, clock, configuration, until: .seconds(7))
        return (played, network.names)
    }

    /// Whether a warning names a feature that the probe cannot use.
    private func complains(_ played: Played) -> Bool {
        played.all(.streamWarning).contains { $0.attributes[.warningCode] == "notSupported" }
    }

    @Test(
        "The server is asked once, before the MPD is used, and its clock decides which segments exist",
        arguments: ["http-iso", "http-xsdate", "http-head"]
    )
    func asked(scheme: String) async throws {
        let (played, names) = try await play(Self.timing(scheme, "/time"))
        #expect(names.prefix(3) == ["live.mpd", "time", "init.mp4"], "\(names)")
        #expect(names.filter { $0 == "time" }.count == 1 && names.filter { $0 == "live.mpd" }.count > 2)
        // Two seconds behind the edge at 4 s: the second segment is complete, and plays.
        #expect(names.first { $0.hasSuffix("m4s") } == "media1.m4s", "\(names)")
        #expect(played.actions.contains(.start) && !played.actions.contains(.error), "\(played.story)")
        #expect(!complains(played))
    }

    @Test("A clock that cannot be read is reported, and the next one is asked")
    func nextSource() async throws {
        let timings = Self.timing("http-iso", "/missing /nonsense") + Self.timing("http-head", "/time")
        let (played, names) = try await play(timings)
        #expect(names.prefix(5) == ["live.mpd", "missing", "nonsense", "time", "init.mp4"], "\(names)")
        #expect(played.actions.contains(.start) && complains(played), "\(played.story)")
    }

    @Test("Without a clock that can be read, and with a time in the MPD, the local clock or that time counts")
    func withoutSource() async throws {
        let (late, names) = try await play(Self.timing("http-iso", "/missing") + Self.timing("ntp", "time.example"))
        #expect(names.allSatisfy { ["live.mpd", "missing"].contains($0) }, "\(names)")
        #expect(!late.actions.contains(.start) && complains(late))
        let (played, direct) = try await play(
            Self.timing("http-iso", "/time") + Self.timing("direct", "1970-01-01T01:00:04Z")
        )
        #expect(!direct.contains("time") && played.actions.contains(.start), "\(direct)")
    }

    @Test("A presentation that begins later is announced once, and playback waits until it is stopped")
    func future() async throws {
        let (played, names) = try await play(Self.timing("direct", "1970-01-01T00:59:40Z"))
        let warnings = played.all(.streamWarning).filter { $0.attributes[.warningCode] == "notBegun" }
        #expect(warnings.count == 1 && names.filter { $0 == "live.mpd" }.count > 2, "\(played.story)")
        let text = warnings.first?.attributes[.warningDescription] ?? ""
        // By the local clock, which is at -6 s, twenty seconds before the beginning.
        #expect(text.hasPrefix("the presentation begins at 1970-01-01T00:00:14."), "\(text)")
        #expect(text.contains(", and playback waits until then; correct availabilityStartTime"), "\(text)")
        let wait = warnings.first?.attributes[AttributeKey<Duration>("presentationWait")]
        #expect(wait.map { $0 > .seconds(19) && $0 <= .seconds(24) } == true)
        #expect(!played.actions.contains(.start) && !played.actions.contains(.error))
        let (soon, _) = try await play(Self.timing("direct", "1970-01-01T00:59:54Z"))
        #expect(soon.all(.streamWarning).allSatisfy { $0.attributes[.warningCode] != "notBegun" }, "\(soon.story)")
    }
}
