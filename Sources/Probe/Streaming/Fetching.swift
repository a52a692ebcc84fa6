internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// Which of a presentation's streams is loaded: the picture's (or all there is), or sound of its own.
enum StreamRole: Hashable, Sendable, CaseIterable { case main, audio }

/// What a fetch is for.
enum FetchPurpose: Hashable, Sendable {
    case manifest
    case playlist(Rendition.ID)
    /// The `sidx` box that says where segments are.
    case index(Rendition.ID)
    case initialization(StreamRole)
    case key(StreamRole)
    case segment(StreamRole)

    var kind: ResourceKind {
        switch self {
        case .manifest: .manifest
        case .playlist, .index: .playlist
        case .initialization: .initialization
        case .key: .key
        case .segment: .segment
        }
    }

    var phase: ProbeError.Phase {
        switch self {
        case .manifest: .manifest
        case .playlist, .index: .playlist
        case .initialization: .initialization
        case .key: .key
        case .segment: .segment
        }
    }

    var role: StreamRole? {
        switch self {
        case .manifest, .playlist, .index: nil
        case .initialization(let role), .key(let role), .segment(let role): role
        }
    }
}

/// A fetch that has begun.
struct Fetching: Sendable {
    let number: Int
    let purpose: FetchPurpose
    let request: ResourceRequest
    let buffer: FetchBuffer
    let begun: MonotonicInstant
    /// How often the same has failed before.
    let failures: Int
    let policy: RetryPolicy

    /// When it has taken too long, by what has come of it.
    var tooLate: MonotonicInstant {
        if buffer.isWhole { return MonotonicInstant(nanoseconds: .max) }
        let arrivals = buffer.arrivals
        var limits = [policy.loadTimeout.map { begun.advanced(by: $0) }]
        if let last = arrivals.last {
            limits.append(policy.stallTimeout.map { last.advanced(by: $0) })
        } else {
            limits.append((policy.firstByteTimeout ?? policy.stallTimeout).map { begun.advanced(by: $0) })
        }
        return limits.compactMap(\.self).min() ?? MonotonicInstant(nanoseconds: .max)
    }
}

/// What the engine has to do for the loader.
enum LoadCommand: Sendable {
    case fetch(Fetching)
    /// Nobody waits for it any more, because of this.
    case cancel(Fetching, ResourceFailure)
}

/// What failed and is to be tried again.
struct Retrying: Hashable, Sendable {
    var failures: Int
    var notBefore: MonotonicInstant
}
