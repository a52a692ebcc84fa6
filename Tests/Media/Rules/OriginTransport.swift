import Foundation
import Instrument
import InstrumentHTTP
import LoopbackServers
import NIOCore

@testable import InstrumentOrigin

/// The fixtures, made once for all tests of a run.
enum SharedFixtures {
    private static let made = Task {
        try await Fixtures.make(in: MediaCache.origin)
    }

    static func get() async throws -> Fixtures { try await made.value }
}

/// Answers from the origin's content without a network, by an injected clock; one session for each transport.
struct OriginTransport: HTTPTransport {
    let site: Site
    let clock: any SchedulingClock
    let start: WallTime
    /// Changes a response before it is returned.
    var change: (@Sendable (inout HTTPResponse) -> Void)?
    /// How long the body of a segment takes.
    var segmentTime = Duration.zero
    /// How long a playlist takes, by the end of its path.
    var playlistTimes: [String: Duration] = [:]
    /// The seconds of the clock at which playlists were requested, by the end of their path.
    let requests = Lock<[String: [Double]]>([:])

    init(_ fixtures: Fixtures, clock: any SchedulingClock) throws {
        site = try Site([.fixtures(fixtures)])
        self.clock = clock
        start = clock.wallTime
    }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let begun = clock.now.nanoseconds
        let name = request.url.path.split(separator: "/").last.map(String.init) ?? ""
        requests.withLock { $0[name, default: []].append(Double(begun) / 1e9) }
        if let time = playlistTimes[name] { try await wait(time) }
        let parts = request.url.requestText.split(separator: "?", maxSplits: 1)
        let moment = Moment(now: clock.wallTime, originStart: start, sessionStart: start)
        let query = parts.count > 1 ? String(parts[1]) : ""
        var response = HTTPResponse(status: 404, url: request.url)
        if let resource = site.resource(at: request.url.path, query: query, moment: moment) {
            let bytes = Self.bytes(of: resource.body)
            var headers = try HTTPHeaders(["Content-Type": resource.contentType])
            for line in resource.headers {
                let field = line.split(separator: ":", maxSplits: 1)
                try headers.set(String(field[0]), field.count > 1 ? String(field[1].drop { $0 == " " }) : "")
            }
            response = HTTPResponse(status: 200, headers: headers, body: bytes, url: request.url)
            if let range = request.headers["Range"], resource.ranges != .ignored,
                let part = Self.part(range, of: bytes)
            {
                (response.status, response.body) = (206, resource.ranges == .wholeBody ? bytes : Array(part))
                let bounds = "\(part.startIndex)-\(part.endIndex - 1)"
                if resource.ranges != .unnamed {
                    try response.headers.set("Content-Range", "bytes \(bounds)/\(bytes.count)")
                }
            }
        }
        change?(&response)
        let isSegment = !["m3u8", "mpd"].contains { request.url.path.hasSuffix($0) }
        if isSegment, segmentTime > .zero { try await wait(segmentTime) }
        return response
    }

    private func wait(_ time: Duration) async throws(HTTPError) {
        let end = clock.now.advanced(by: time)
        guard (try? await clock.sleep(until: end, tolerance: nil)) != nil else {
            throw HTTPError(.cancelled, "cancelled")
        }
    }

    private static func bytes(of body: Body) -> [UInt8] {
        body.bytes(at: 0, count: body.count).map { Array($0.readableBytesView) } ?? []
    }

    private static func part(_ header: String, of bytes: [UInt8]) -> ArraySlice<UInt8>? {
        let bounds = header.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
        guard let first = bounds.first, first < bytes.count else { return nil }
        return bytes[first...min(bounds.count > 1 ? bounds[1] : .max, bytes.count - 1)]
    }
}
