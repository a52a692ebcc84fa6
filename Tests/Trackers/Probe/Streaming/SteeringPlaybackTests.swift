import Foundation
import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Playback with a steering server", .ownThread)
struct SteeringPlaybackTests {
    /// Plays with three seconds of buffer, so that requests follow the playhead, and gives the requested paths with
    /// their queries.
    private func play(
        _ path: String,
        steering: @escaping @Sendable (Int) -> String?,
        manifest: String
    ) async throws -> (played: Played, urls: [String]) {
        let folder = try path.hasSuffix("mpd") ? Fixtures.hlsMP4.get() : Fixtures.hlsTS.get()
        let clock = VirtualClock()
        let count = Lock(0)
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 80_000_000)]) { requested in
            if requested == path { return Array(manifest.utf8) }
            if requested.hasPrefix("/steer") {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return steering(number).map { Array($0.utf8) }
            }
            let name = requested.split(separator: "/").last ?? ""
            return (try? Fixtures.data(folder + "/" + name)).map { [UInt8]($0) }
        }
        let configuration = ProbeConfiguration(profile: .plain(maximum: .seconds(3)))
        let played = await playStream(path, over: network, clock, configuration)
        return (played, network.requests.map(\.url))
    }

    private static func order(_ servers: String..., timeToLive: Int = 4, more: String = "") -> String {
        let list = servers.map { "\"\($0)\"" }.joined(separator: ",")
        return "{\"VERSION\":1,\"TTL\":\(timeToLive),\"PATHWAY-PRIORITY\":[\(list)]\(more)}"
    }

    private static let pathways = """
        #EXTM3U
        #EXT-X-CONTENT-STEERING:SERVER-URI="/steer?id=7",PATHWAY-ID="two"
        #EXT-X-STREAM-INF:BANDWIDTH=300000,PATHWAY-ID="one"
        http://one.test/media.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=300000,PATHWAY-ID="two"
        http://two.test/media.m3u8
        """

    @Test("HLS: playback begins with the named pathway, and changes it when the steering server says so")
    func pathway() async throws {
        let (played, urls) = try await play(
            "/master.m3u8",
            steering: { Self.order($0 == 1 ? "two" : "one", timeToLive: 2) },
            manifest: Self.pathways
        )
        #expect(played.outcome == .ended, "\(played.story)")
        let hosts = urls.filter { $0.hasSuffix(".ts") }.map { String($0.dropFirst(7).prefix(3)) }
        #expect(hosts.first == "two" && hosts.last == "one" && hosts.count == 6, "\(urls)")
        #expect(hosts == hosts.sorted(by: >), "the pathway changes once: \(urls)")
        let asked = urls.filter { $0.contains("/steer") }
        #expect(asked.first == "http://origin.example/steer?id=7&_HLS_pathway=two")
        #expect(asked.count >= 3 && asked.dropFirst(2).allSatisfy { $0.contains("_HLS_pathway=one&_HLS_throughput=") })
        #expect(played.all(.bufferBegin).count == 1 && !played.actions.contains(.streamWarning))
    }

    /// An answer with a clone of a pathway, which comes first.
    private static func clone(of base: String) -> String {
        let clones = """
            ,"PATHWAY-CLONES":[{"BASE-ID":"\(base)","ID":"three","URI-REPLACEMENT":{"HOST":"three.test","PARAMS":{"t":"1"}}}]
            """
        return order("three", "one", more: clones)
    }

    @Test("HLS: a clone of a pathway has the host and the parameters of the answer")
    func clone() async throws {
        let (played, urls) = try await play(
            "/master.m3u8",
            steering: { _ in Self.clone(of: "one") },
            manifest: Self.pathways
        )
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(urls.contains("http://three.test/media.m3u8?t=1"), "\(urls)")
        #expect(urls.filter { $0.hasSuffix(".ts") }.last?.hasPrefix("http://three.test/") == true, "\(urls)")
    }

    @Test("HLS: a steering manifest in the playlist orders the servers, and only its RELOAD-URI is asked")
    func written() async throws {
        let reload = ",\"RELOAD-URI\":\"/steer?r\""
        let cases: [(String, String?)] = [("", nil), (reload, "http://origin.example/steer?r&_HLS_pathway=two")]
        for (more, askedFirst) in cases {
            let text = Self.order("two", timeToLive: 2, more: more)
            let address = "data:application/json;base64," + Data(text.utf8).base64EncodedString()
            let (played, urls) = try await play(
                "/master.m3u8",
                steering: { _ in Self.order("one", timeToLive: 300) },
                manifest: Self.pathways.replacing(
                    "/steer?id=7\",PATHWAY-ID=\"two",
                    with: "\(address)\",PATHWAY-ID=\"one"
                )
            )
            #expect(played.outcome == .ended && !played.actions.contains(.streamWarning), "\(played.story)")
            let hosts = urls.filter { $0.hasSuffix(".ts") }.map { String($0.dropFirst(7).prefix(3)) }
            #expect(hosts.first == "two" && hosts.last == (askedFirst == nil ? "two" : "one"), "\(urls)")
            let asked = urls.first { $0.contains("/steer") }
            #expect(askedFirst.map { asked?.hasPrefix($0) == true } ?? (asked == nil), "\(urls)")
        }
    }

    @Test("HLS: a steering manifest in the playlist that cannot be read is a warning")
    func unreadableWritten() async throws {
        let (played, urls) = try await play(
            "/master.m3u8",
            steering: { _ in nil },
            manifest: Self.pathways.replacing("/steer?id=7", with: "data:,hello")
        )
        #expect(played.outcome == .ended && !urls.contains { $0.contains("/steer") }, "\(played.story)")
        let warning = played.all(.streamWarning).first?.attributes[.warningDescription]
        #expect(warning?.contains("the steering manifest must be JSON") == true, "\(warning ?? "")")
    }

    private static func mpd(_ attributes: String) -> String {
        """
        <MPD type="static" mediaPresentationDuration="PT12S">\
        <BaseURL serviceLocation="one">http://one.test/</BaseURL>\
        <BaseURL serviceLocation="two">http://two.test/x/</BaseURL>\
        <ContentSteering \(attributes)>/steer</ContentSteering><Period id="p">\
        <AdaptationSet mimeType="video/mp4"><SegmentTemplate timescale="1" duration="2" startNumber="0" \
        initialization="init.mp4" media="media$Number$.m4s"/><Representation id="v" bandwidth="200000"/>\
        </AdaptationSet></Period></MPD>
        """
    }

    @Test("DASH: an answer that is asked for before the start decides about the first request")
    func beforeStart() async throws {
        let (played, urls) = try await play(
            "/a.mpd",
            steering: { Self.order($0 == 1 ? "two" : "one") },
            manifest: Self.mpd("queryBeforeStart=\"true\"")
        )
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(
            urls.prefix(3) == [
                "http://origin.example/a.mpd", "http://origin.example/steer?_DASH_pathway=%22one%22",
                "http://two.test/x/init.mp4",
            ]
        )
        let media = urls.filter { $0.hasSuffix("m4s") }
        #expect(media.first == "http://two.test/x/media0.m4s" && media.last == "http://one.test/media5.m4s", "\(urls)")
    }

    @Test("DASH: the addresses of media at a clone have the parameters of the answer (ETSI TS 103 998)")
    func cloneOfMedia() async throws {
        let (played, urls) = try await play(
            "/a.mpd",
            steering: { _ in Self.clone(of: "two") },
            manifest: Self.mpd("queryBeforeStart=\"1\"").replacing("$.m4s", with: "$.m4s?k=2")
        )
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(urls.contains("http://three.test/x/init.mp4?t=1"), "\(urls)")
        #expect(urls.last { $0.contains("m4s") } == "http://three.test/x/media5.m4s?k=2&t=1", "\(urls)")
    }

    @Test("A steering server that fails is a warning, and is asked again only after the usual time")
    func failure() async throws {
        for text in [nil, "tomorrow"] {
            let (played, urls) = try await play(
                "/a.mpd",
                steering: { _ in text },
                manifest: Self.mpd("defaultServiceLocation=\"two\" queryBeforeStart=\"true\"")
            )
            #expect(played.outcome == .ended, "\(played.story)")
            #expect(urls.filter { $0.contains("/steer") }.count == 1)
            #expect(urls.filter { $0.hasSuffix("m4s") }.allSatisfy { $0.hasPrefix("http://two.test/x/") })
            #expect(played.all(.streamWarning).contains { $0.attributes[.warningCode] == "steering" })
        }
    }
}
