import Instrument
import InstrumentAds
import InstrumentBeacons
import InstrumentOrigin
import InstrumentProbe
import InstrumentTransport
import TestTraits
import Testing

@testable import InstrumentHTTP

/// Beacons of a played ad whose servers hang or redirect: nothing of the playback depends on them.
@Suite("Beacons of played ads", .ownThread, .timeLimit(.minutes(30)))
struct PlayedBeaconTests {
    private static let events = ["start", "firstQuartile", "midpoint", "thirdQuartile", "complete"]

    /// Content of 8 s with a pre-roll of 4 s, whose beacons are for `server`.
    private func play(
        _ server: String,
        _ backend: BeaconBackend?,
        afterwards: () async -> Void = {}
    ) async throws -> Staged {
        let origin = try await Stage.origin().url("")
        let tracking = Self.events.map { "<Tracking event=\"\($0)\">\(server)/\($0)</Tracking>" }
        let document =
            "<VAST version=\"3.0\"><Ad id=\"x\"><InLine><AdSystem>x</AdSystem><AdTitle>x</AdTitle>"
            + "<Impression>\(server)/impression</Impression><Creatives><Creative><Linear><Duration>00:00:04</Duration>"
            + "<TrackingEvents>\(tracking.joined())</TrackingEvents><MediaFiles><MediaFile delivery=\"streaming\" "
            + "type=\"application/x-mpegurl\" width=\"1\" height=\"1\">\(origin)ad4.m3u8</MediaFile></MediaFiles>"
            + "</Linear></Creative></Creatives></InLine></Ad></VAST>"
        let answers: @Sendable (String, String) -> OverlayTransport.Answer? = { path, _ in
            switch path {
            case "/content.m3u8": .text(Playlist.text(4))
            case "/ad4.m3u8": .text(Playlist.text(2))
            case "/doc.xml": .text(document)
            default: nil
            }
        }
        return try await Stage.play(
            "content.m3u8",
            AdConfiguration(tag: AdURL(origin + "doc.xml")),
            answers: answers,
            beaconBackend: backend,
            afterwards: afterwards
        )
    }

    @Test("Beacons that hang delay neither the ad nor the content, and arrive once their server answers")
    func hanging() async throws {
        let plain = try await play("http://ads.example", nil)
        let server = HeldServer()
        let held = try await play("http://ads.example", BeaconBackend(transport: server)) {
            // The playback is over, and the first beacon still has no answer.
            await server.asked.wait()
            #expect(server.paths == ["/impression"])
            server.released.open()
        }
        #expect(held.outcome == .ended && held.course == plain.course, "\(held.course)")
        #expect(server.paths == ["/impression"] + Self.events.map { "/" + $0 })
    }

    @Test("Beacons that are redirected to a private address are refused, each alone, and content plays to its end")
    func redirected() async throws {
        let origin = try await Stage.origin()
        let session = "redirected-beacons"
        let server = try RedirectingServer(to: origin.url("ads/beacon", session: session))
        let played = try await play("http://ads.example", BeaconBackend(transport: server))
        #expect(played.outcome == .ended && played.all(.adFinish).count == 1)
        // Every beacon was tried once, and none reached the private address.
        #expect(server.paths == ["/impression"] + Self.events.map { "/" + $0 })
        #expect(server.refusals == Array(repeating: .addressRefused, count: 1 + Self.events.count))
        #expect(origin.requests(of: session).isEmpty)
    }
}

/// Takes beacons, and answers none of them until it is released.
private final class HeldServer: HTTPTransport {
    let (asked, released) = (Gate(), Gate())
    private let seen = Lock([String]())

    var paths: [String] { seen.withLock { $0 } }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        seen.withLock { $0.append(request.url.path) }
        asked.open()
        await released.wait()
        return HTTPResponse(status: 204, url: request.url)
    }
}

/// A public server that redirects every beacon to another address, over a transport that refuses private addresses.
private final class RedirectingServer: HTTPTransport {
    private let target: String
    private let careful: SystemTransport
    private let state = Lock((paths: [String](), refusals: [HTTPError.Code]()))

    init(to target: String) throws {
        (self.target, careful) = (target, try SystemTransport(TransportConfiguration(allowsPrivateAddresses: false)))
    }

    var paths: [String] { state.withLock { $0.paths } }
    var refusals: [HTTPError.Code] { state.withLock { $0.refusals } }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        state.withLock { $0.paths.append(request.url.path) }
        let headers = try HTTPHeaders(["Location": target])
        let response = HTTPResponse(status: 302, headers: headers, url: request.url)
        guard let next = try request.redirected(by: response, after: 0) else { return response }
        do throws(HTTPError) {
            return try await careful.send(next)
        } catch {
            state.withLock { $0.refusals.append(error.code) }
            throw error
        }
    }
}
