internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// A track of a stream: the main track (video, or all media), a separate audio rendition, or subtitles.
enum StreamRole: Hashable, Sendable {
    case main, audio, subtitles

    /// The tracks that playback needs.
    static let media: [StreamRole] = [.main, .audio]
}

/// The purpose of a request.
enum FetchPurpose: Hashable, Sendable {
    case manifest
    /// The changes of the manifest since its last load.
    case patch
    /// An element of the MPD that is elsewhere.
    case element
    /// The time of the server.
    case clock(ClockSource.Method)
    /// The order of the servers.
    case steering
    case playlist(Rendition.ID)
    /// The `sidx` box with the positions of segments.
    case index(Rendition.ID)
    case initialization(StreamRole)
    case key(StreamRole)
    /// The licence for encrypted samples.
    case licence
    case segment(StreamRole)
    /// What a low-latency playlist hints at.
    case hint(LivePolicy.HintedResource, StreamRole)

    var kind: ResourceKind {
        switch self {
        case .manifest, .patch, .element: .manifest
        case .clock: .clock
        case .steering: .steering
        case .playlist, .index: .playlist
        case .initialization: .initialization
        case .key: .key
        case .licence: .licence
        case .segment(.subtitles): .subtitles
        case .segment, .hint(.part, _): .segment
        case .hint(.initialization, _): .initialization
        }
    }

    var phase: ProbeError.Phase {
        switch self {
        case .manifest, .patch, .element, .clock, .steering: .manifest
        case .playlist, .index: .playlist
        case .initialization, .hint(.initialization, _): .initialization
        case .key: .key
        case .licence: .licence
        case .segment, .hint(.part, _): .segment
        }
    }

    var method: HTTPMethod {
        switch self {
        case .clock(.dateHeader): .head
        case .licence: .post
        default: .get
        }
    }

    /// Whether the request is for media, or for what belongs to it.
    var isOfMedia: Bool {
        switch self {
        case .index, .initialization, .segment, .hint: true
        case .manifest, .patch, .element, .clock, .steering, .playlist, .key, .licence: false
        }
    }

    /// Whether the resource is text, which servers compress.
    var isOfText: Bool {
        switch self {
        case .manifest, .patch, .element, .steering, .playlist, .segment(.subtitles): true
        case .clock, .index, .initialization, .key, .licence, .segment, .hint: false
        }
    }

    /// The rendition of a playlist or an index.
    var rendition: Rendition.ID? {
        switch self {
        case .playlist(let id), .index(let id): id
        case .manifest, .patch, .element, .clock, .steering, .initialization, .key, .licence, .segment, .hint: nil
        }
    }

    var role: StreamRole? {
        switch self {
        case .manifest, .patch, .element, .clock, .steering, .playlist, .index, .licence: nil
        case .initialization(let role), .key(let role), .segment(let role), .hint(_, let role): role
        }
    }

    var isHint: Bool { if case .hint = self { true } else { false } }

    /// The purpose of a request for the same resource before a playlist lists it; nil for what no playlist hints at.
    var hint: FetchPurpose? {
        switch self {
        case .initialization(let role): .hint(.initialization, role)
        case .segment(let role): .hint(.part, role)
        default: nil
        }
    }
}

/// A running request.
struct Fetching: Sendable {
    let number: Int
    private(set) var purpose: FetchPurpose
    @Indirect private(set) var request: ResourceRequest
    let buffer: FetchBuffer
    let begun: MonotonicInstant
    /// The number of earlier failures of the same request.
    let failures: Int
    @Indirect private(set) var policy: RetryPolicy
    /// The instant at which a playlist listed the resource, where a hint caused the request before; or at which
    /// playback wanted a segment that was inspected before.
    private(set) var listedAt: MonotonicInstant?

    /// The beginning of the transfer. The server has held a request that a hint caused, which says nothing of the
    /// network.
    var transferBegun: MonotonicInstant { listedAt == nil ? begun : buffer.arrivals.first ?? begun }

    /// The arrivals of bytes as media: what nobody may play yet counts from the instant at which it is listed or
    /// wanted.
    func playable(_ arrivals: ArrivalLog) -> ArrivalLog { listedAt.map { arrivals.delayed(until: $0) } ?? arrivals }

    /// The same request once a playlist lists the resource.
    func promoted(to purpose: FetchPurpose, at instant: MonotonicInstant) -> Fetching {
        var fetching = self
        (fetching.purpose, fetching.listedAt) = (purpose, instant)
        return fetching
    }

    /// When the request exceeds a limit of its policy, given the bytes that have arrived.
    var tooLate: MonotonicInstant {
        if buffer.isWhole { return MonotonicInstant(nanoseconds: .max) }
        let arrivals = buffer.arrivals
        var limits = [policy.loadTimeout.map { begun.advanced(by: $0) }]
        let progress = policy.progress.map { arrivals.lastPart(of: $0, from: begun) } ?? arrivals.last
        if let last = progress {
            limits.append(policy.stallTimeout.map { last.advanced(by: $0) })
        } else {
            limits.append((policy.firstByteTimeout ?? policy.stallTimeout).map { begun.advanced(by: $0) })
        }
        return limits.compactMap(\.self).min() ?? MonotonicInstant(nanoseconds: .max)
    }
}

/// A command of a stream's playback for the network.
enum LoadCommand: Sendable {
    case fetch(Fetching)
    /// The request is no longer needed, for this reason.
    case cancel(Fetching, ResourceFailure)

    var isCancellation: Bool { if case .cancel = self { true } else { false } }
}

/// A failed request that waits for its retry.
struct Retrying: Hashable, Sendable {
    var failures: Int
    var notBefore: MonotonicInstant
}
