import Foundation
import Instrument
import InstrumentManifests
import InstrumentTransport
import LoopbackServers
import NIOCore

@testable import InstrumentOrigin
@testable import InstrumentProbe

/// The test origin's media behind one computed link, in virtual time: its responses share the link in equal parts, as
/// those of the real origin do.
final class OriginNetwork: ResourceFetcher {
    struct Request: Hashable {
        var path: String
        /// ns.
        var instant: Int64
        /// ns; nil for a request that was not aborted.
        var abortedAt: Int64?
        /// ns; nil for a request that has not been answered completely.
        var answeredAt: Int64?
    }

    private struct Response {
        var bytes: [UInt8]
        var delivered = 0
        var buffer: FetchBuffer
        var progress: @Sendable () -> Void
        var ended: @Sendable (Result<ResourceResponse, ResourceFailure>) -> Void
        var request: ResourceRequest
        /// The number of alarms; earlier ones have no effect.
        var alarm = 0
    }

    private struct State {
        var link: SharedLink
        var requests: [Request] = []
        var responses: [Int: Response] = [:]
    }

    /// Two TCP segments.
    private static let piece = 2896

    private let clock: VirtualClock
    private let latency: Int64
    private let media: LoopedOrigin
    private let state: Lock<State>

    var requests: [Request] { state.withLock { $0.requests } }

    /// Creates a network.
    ///
    /// - Parameter latency: from a request to its first byte, ns.
    init(_ media: LoopedOrigin, over schedule: String, clock: VirtualClock, latency: Int64 = 2_000_000) throws {
        self.clock = clock
        self.latency = latency
        self.media = media
        state = Lock(State(link: SharedLink(try DeliverySchedule(schedule), sharing: .fair)))
    }

    func fetch(
        _ request: ResourceRequest,
        into buffer: FetchBuffer,
        progress: @escaping @Sendable () -> Void,
        ended: @escaping @Sendable (Result<ResourceResponse, ResourceFailure>) -> Void
    ) -> FetchCancellation {
        let number = state.withLock { state in
            state.requests.append(Request(path: request.url.path, instant: clock.now.nanoseconds))
            return state.requests.count - 1
        }
        guard let bytes = media.bytes(request.url.path, at: clock.now) else {
            at(clock.now.nanoseconds + latency) {
                ended(.failure(ResourceFailure(HTTPResponse(status: 404, url: request.url))))
            }
            return FetchCancellation {}
        }
        state.withLock {
            $0.responses[number] = Response(
                bytes: bytes,
                buffer: buffer,
                progress: progress,
                ended: ended,
                request: request
            )
        }
        at(clock.now.nanoseconds + latency) { [weak self] in self?.begin(number) }
        return FetchCancellation { [weak self] in self?.cancel(number) }
    }

    func offload(_ work: @escaping @Sendable () -> Void) { work() }

    private func at(_ instant: Int64, _ action: @escaping @Sendable () -> Void) {
        _ = clock.schedule(at: MonotonicInstant(nanoseconds: instant), action)
    }

    private func begin(_ number: Int) {
        let now = clock.now.nanoseconds
        let begun = state.withLock { state -> Bool in
            guard let response = state.responses[number] else { return false }
            state.link.join(number, bytes: response.bytes.count, at: now)
            response.buffer.expect(response.bytes.count)
            return true
        }
        if begun { step(number) }
    }

    private func cancel(_ number: Int) {
        let now = clock.now.nanoseconds
        let others = state.withLock { state -> [Int] in
            guard state.responses.removeValue(forKey: number) != nil else { return [] }
            state.requests[number].abortedAt = now
            state.link.leave(number, at: now)
            return state.responses.keys.sorted()
        }
        // The others are faster from now on; their alarms were computed for less.
        for other in others { at(now) { [weak self] in self?.step(other) } }
    }

    /// Delivers what has come of a response, and plans its next piece.
    private func step(_ number: Int, alarm: Int? = nil) {
        let now = clock.now.nanoseconds
        let work = state.withLock { state -> (Response, ArraySlice<UInt8>)? in
            guard var response = state.responses[number], alarm == nil || alarm == response.alarm else { return nil }
            let released = state.link.released(number, at: now) ?? response.bytes.count
            let new = response.bytes[response.delivered..<max(response.delivered, released)]
            response.delivered = max(response.delivered, released)
            response.alarm += 1
            let isWhole = response.delivered == response.bytes.count
            state.responses[number] = isWhole ? nil : response
            if isWhole { state.requests[number].answeredAt = now }
            return (response, new)
        }
        guard let (response, new) = work else { return }
        if !new.isEmpty {
            new.withUnsafeBytes { response.buffer.append($0, at: clock.now) }
            response.progress()
        }
        if response.delivered == response.bytes.count { return response.ended(.success(Self.response(response))) }
        plan(number)
    }

    private func plan(_ number: Int) {
        let now = clock.now.nanoseconds
        let next = state.withLock { state -> (instant: Int64, alarm: Int)? in
            guard let response = state.responses[number] else { return nil }
            let wanted = min(response.bytes.count, response.delivered + Self.piece)
            return state.link.wake(number, forByte: wanted, at: now).map { ($0, response.alarm) }
        }
        guard let next else { return }
        at(max(now + 1, next.instant)) { [weak self] in self?.step(number, alarm: next.alarm) }
    }

    private static func response(_ response: Response) -> ResourceResponse {
        let (bytes, arrivals) = response.buffer.snapshot()
        return ResourceResponse(
            url: response.request.url,
            status: 200,
            body: bytes,
            arrivals: arrivals,
            timings: HTTPTimings(),
            redirectCount: 0,
            version: "1.1"
        )
    }
}

/// The test origin's fixtures, looped to two minutes: `/dash/`, `/fmp4/` and `/ts/`; as a live stream with a window of
/// six segments (`/live6/`) or another number: `/live6/fmp4/`.
struct LoopedOrigin: Sendable {
    private static let seconds = 120

    private let fixtures: InstrumentOrigin.Fixtures

    init() async throws { fixtures = try await InstrumentOrigin.Fixtures.make(in: MediaCache.origin) }

    func bytes(_ path: String, at now: MonotonicInstant = MonotonicInstant(nanoseconds: 0)) -> [UInt8]? {
        var parts = path.split(separator: "/").map(String.init)
        let live = parts.first.flatMap { $0.hasPrefix("live") ? Int($0.dropFirst(4)) : nil }
        if live != nil { parts.removeFirst() }
        guard let first = parts.first, parts.count > 1 else { return nil }
        let names = Array(parts.dropFirst())
        let packaging: Track.Packaging = first == "ts" ? .transport : .fragmented
        switch (first, names[0]) {
        case ("dash", "number.mpd"):
            let manifest = fixtures.manifest(.number)
            return Array(manifest.replacing("\"PT\(fixtures.seconds)S\"", with: "\"PT\(Self.seconds)S\"").utf8)
        case ("dash", _): return segment(names, packaging)
        case ("fmp4", _), ("ts", _):
            return playlist(names, packaging, window(live, packaging, at: now)) ?? segment(names, packaging)
        default: return nil
        }
    }

    private func playlist(_ names: [String], _ packaging: Track.Packaging, _ window: LiveWindow) -> [UInt8]? {
        guard names.count == 1 else { return nil }
        if names[0] == "master.m3u8" { return Array(fixtures.masterPlaylist(packaging, query: "").utf8) }
        guard let track = fixtures.track(String(names[0].dropLast(5)), packaging) else { return nil }
        // A "live" playlist marks the seams of the loop; that of a recording ends.
        let kind = packaging == .fragmented && window.isOver ? StreamKind.vod : .live
        return Array(fixtures.mediaPlaylist(track, packaging, kind, window, query: "").utf8)
    }

    /// The window of a recording, or a live one of this number of segments.
    private func window(_ count: Int?, _ packaging: Track.Packaging, at now: MonotonicInstant) -> LiveWindow {
        guard let count else { return .whole(count: Self.seconds / packaging.seconds) }
        let start = WallTime(milliseconds: 0)
        let moment = Moment(now: start.advanced(nanoseconds: now.nanoseconds), originStart: start, sessionStart: start)
        return .live(at: moment, segment: Int64(packaging.seconds) * 1000, window: count)
    }

    private func segment(_ names: [String], _ packaging: Track.Packaging) -> [UInt8]? {
        guard names.count == 2 else { return nil }
        if names[1] == "init.mp4" {
            return fixtures.fragmentedFile(names[0]).flatMap { Self.bytes($0.initializationBody) }
        }
        let number = names[1].split(separator: ".").first.flatMap { Int($0) }
        return number.flatMap { fixtures.track(names[0], packaging)?.body($0) }.flatMap(Self.bytes)
    }

    private static func bytes(_ body: Body) -> [UInt8]? {
        guard var buffer = body.bytes(at: 0, count: body.count) else { return nil }
        return buffer.readBytes(length: buffer.readableBytes)
    }
}
