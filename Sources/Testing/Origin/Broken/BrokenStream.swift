internal import Instrument
internal import NIOCore

/// A stream of the fixtures that breaks exactly one rule on playlists, manifests or segments.
package struct BrokenStream: Hashable, Sendable {
    /// The rule that the stream breaks, by its identifier; `none` for a stream that keeps all rules.
    package let rule: String
    /// The path to give to ``Origin/url(_:session:)``.
    ///
    /// Faults that come after a while count from the session's first request: use a separate session for each check.
    package let path: String

    init(_ rule: String, _ base: String) {
        self.rule = rule
        path = "break/\(rule)/\(base)"
    }
}

extension Fixtures {
    /// The streams under `break/`, one or more for each rule, and those that keep all rules (`none`).
    package static let brokenStreams: [BrokenStream] = Breakage.all.flatMap { breakage in
        breakage.bases.map { BrokenStream(breakage.rule, $0) }
    }
}

/// Serves the streams under `break/`: streams of the fixtures with one change each.
struct BrokenStreams: Sendable {
    let fixtures: Fixtures

    /// The resource at a path under `break/RULE/`.
    func resource(_ names: [String], _ query: StreamQuery, _ moment: Moment) -> Resource? {
        guard let rule = names.first, let breakage = Breakage.all.first(where: { $0.rule == rule }),
            let kind = names.dropFirst().first.flatMap(StreamKind.init(rawValue:))
        else { return nil }
        let path = Array(names.dropFirst(2))
        var request = BrokenRequest(kind: kind, names: path, query: query, moment: moment)
        if let number = segmentNumber(&request) {
            guard let made = segment(number, request) else { return nil }
            switch breakage.segment?(number, made, request, fixtures) {
            case .missing: return nil
            case .replaced(let other): return other
            case nil: return made
            }
        }
        if let change = breakage.initialization, request.isInitialization {
            let made = fixtures.resource(request.kind, request.names, request.query, request.moment)
            return made.flatMap { made in made.bytes.map { Resource(made.contentType, Body(change($0))) } }
        }
        return document(request, breakage)
    }

    /// The number of a segment that is asked for in a packaging of tracks; nil for everything else.
    private func segmentNumber(_ request: inout BrokenRequest) -> Int? {
        guard let last = request.names.last, !last.hasPrefix("init"), let dot = last.lastIndex(of: "."),
            ["ts", "m4s"].contains(last[last.index(after: dot)...]), request.packaging != nil
        else { return nil }
        // A segment that is listed at another address is the same one.
        request.names.removeAll { $0 == "again" }
        return Int(last[..<dot])
    }

    /// A segment of any age; those of the future do not exist.
    private func segment(_ number: Int, _ request: BrokenRequest) -> Resource? {
        guard let packaging = request.packaging, let name = request.names.dropLast().last, number >= 0,
            let track = fixtures.track(name, packaging)
        else { return nil }
        let length = Int64(packaging.seconds) * 1_000
        let end: Int
        switch request.kind {
        case .vod: end = track.count
        case .event:
            end = LiveWindow.event(at: request.moment, segment: length, count: track.count).available.upperBound
        case .live: end = LiveWindow.live(at: request.moment, segment: length, window: 1).available.upperBound
        }
        guard number < end, let body = track.body(number) else { return nil }
        return Resource(ContentType.of(path: request.names.last ?? ""), body)
    }

    private func document(_ request: BrokenRequest, _ breakage: Breakage) -> Resource? {
        var request = request
        breakage.request?(&request)
        let found: Resource?
        if request.kind == .live, request.names == ["dash", "timeline.mpd"] {
            let text = fixtures.liveTimelineManifest(at: request.moment, window: request.query.window)
            found = Resource(ContentType.dash, Body(text))
        } else {
            found = fixtures.resource(request.kind, request.names, request.query, request.moment)
        }
        guard var resource = found else { return nil }
        breakage.resource?(&resource, request)
        guard let edit = breakage.document,
            resource.contentType == ContentType.hls || resource.contentType == ContentType.dash,
            case .buffer(let buffer) = resource.body
        else { return resource }
        var text = ManifestText(String(buffer: buffer))
        edit(&text, request)
        if text.isMissing { return nil }
        resource.body = Body(text.text)
        resource.contentType = text.contentType ?? resource.contentType
        return resource
    }
}

extension Resource {
    /// All bytes; nil if they cannot be read.
    var bytes: [UInt8]? { body.bytes(at: 0, count: body.count).map { Array($0.readableBytesView) } }
}

/// A request for a part of a broken stream.
struct BrokenRequest: Sendable {
    var kind: StreamKind
    /// The path after the kind: `["ts", "v0.m3u8"]`.
    var names: [String]
    var query: StreamQuery
    var moment: Moment
    /// The time of the request, for streams whose `moment` is fixed.
    var realTime: WallTime?

    /// How the media are packed; nil for streams that are not made of tracks.
    var packaging: Track.Packaging? {
        switch names.first {
        case "dash": .fragmented
        case let name?: Track.Packaging(rawValue: name)
        case nil: nil
        }
    }

    /// The name of the document: `master.m3u8`, `v0.m3u8`, `number.mpd`.
    var document: String { names.last ?? "" }
    /// Whether an initialization section of a track is asked for.
    var isInitialization: Bool { packaging != nil && document.hasPrefix("init") }
    /// Whether the document is a multivariant playlist.
    var isMaster: Bool { document == "master.m3u8" }
    /// The time since the session's first request, in milliseconds.
    var elapsed: Int64 { moment.now.milliseconds &- moment.sessionStart.milliseconds }
}
