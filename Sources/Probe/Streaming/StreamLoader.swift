internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// Decides what to fetch and when, from the manifest to the last segment, as an adaptive player does.
///
/// A value, changed under the engine's lock: events come in, orders gather in `commands`. It knows no network and no
/// clock but what it is told.
struct StreamLoader: Sendable {
    let source: MediaSource
    let configuration: ProbeConfiguration
    var rule: any AdaptationRule
    var random: RandomSource

    var commands: [LoadCommand] = []
    var warnings = WarningLimiter()
    private(set) var fetches: [Int: Fetching] = [:]
    var retries: [FetchPurpose: Retrying] = [:]
    private var nextNumber = 0

    var presentation: Presentation?
    /// The rungs of the ladder, whose `id` is the variant's place in the presentation.
    var ladder: BitrateLadder?
    /// Until when rungs are left alone, because fetching them failed.
    var excluded: [Int: MonotonicInstant] = [:]
    var renditions: [Rendition.ID: RenditionState] = [:]
    var tracks: [StreamRole: StreamTrack] = [:]
    /// What ties the playlists of renditions to one timeline.
    var axis = TimelineAxis()
    var store = SegmentStore()
    var timeline = StreamTimeline()
    var throughput = ThroughputHistory()
    var live = LiveState()
    /// When to ask the rule whether the segment on its way is still worth it.
    var reconsiderAt: MonotonicInstant?
    /// What came before it was known which tracks there are.
    var waiting: [MediaArrival] = []
    /// Nothing more is loaded: because of an error, or because all is there.
    private(set) var isOver = false

    init(source: MediaSource, configuration: ProbeConfiguration, random: RandomSource) {
        self.source = source
        self.configuration = configuration
        self.random = random
        rule = configuration.profile.rule
    }

    var profile: PlayerProfile { configuration.profile }
}

// MARK: What happens
extension StreamLoader {
    /// Playback was asked for.
    mutating func begin(_ session: inout PlaybackSession, now: Timestamp) {
        guard case .http(let text) = source.location else { return }
        do throws(HTTPError) {
            fetch(.manifest, try HTTPURL(text), now: now.instant)
        } catch {
            give(up: ProbeError(.refusedAddress, .manifest, source, error.message), &session, now: now.instant)
        }
    }

    /// A fetch has ended.
    mutating func ended(
        _ number: Int,
        _ result: Result<ResourceResponse, ResourceFailure>,
        _ session: inout PlaybackSession,
        now: Timestamp
    ) {
        guard let fetching = fetches.removeValue(forKey: number), !isOver else { return }
        count(fetching, result, &session)
        switch result {
        case .success(let response):
            accept(response, fetching, &session, now: now)
        case .failure(let failure):
            failed(fetching, failure, &session, now: now)
        }
        pump(&session, now: now)
    }

    private func count(
        _ fetching: Fetching,
        _ result: Result<ResourceResponse, ResourceFailure>,
        _ session: inout PlaybackSession
    ) {
        switch result {
        case .failure: session.count(requestOf: fetching.buffer.count, throughput: nil, hasFailed: true)
        case .success(let response):
            let time = response.arrivals.last.map { fetching.begun.duration(to: $0).seconds } ?? 0
            let rate = fetching.purpose.kind == .segment && time > 0 ? Double(response.bytes.count) * 8 / time : nil
            let throughput = rate.map { Int(clamping: Int64(clamping: $0)) }
            session.count(requestOf: response.bytes.count, throughput: throughput, hasFailed: false)
        }
    }

    /// Time has passed.
    mutating func alarm(_ session: inout PlaybackSession, now: Timestamp) {
        guard !isOver else { return }
        for fetching in fetches.values.sorted(by: { $0.number < $1.number }) where fetching.tooLate <= now.instant {
            // What became of the one before may have ended this one.
            guard fetches[fetching.number] != nil, !isOver else { continue }
            let failure = ResourceFailure.tooLate
            cancel(fetching.number, failure)
            session.count(requestOf: fetching.buffer.count, throughput: nil, hasFailed: true)
            failed(fetching, failure, &session, now: now)
        }
        reconsider(&session, now: now.instant)
        pump(&session, now: now)
    }

    /// Where a jump leads to: into what can be played, as long as that is known. `session` has no duration while live.
    func destination(_ wish: Int64, _ session: PlaybackSession, now: Timestamp) -> Int64 {
        guard live.isPlaced, let track = tracks[.main], let id = track.plan?.rendition ?? track.rendition,
            let state = renditions[id], let first = state.index?.first?.start
        else { return wish }
        guard state.isLive else { return max(wish, first) }
        let edge = max(first, state.timeline?.liveEdge(at: now.wallTime) ?? first)
        return min(max(wish, first), max(first, edge.saturatingSubtract(targetLatency(state))))
    }

    /// The person jumped to where nothing is buffered.
    mutating func seek(to position: Int64, _ session: inout PlaybackSession, now: Timestamp) {
        guard presentation != nil else { return }
        for role in StreamRole.allCases { cancel(role, &session) }
        for role in tracks.keys { tracks[role]?.move(to: position) }
        // What came before it was known what there is belongs to where playback was.
        waiting = []
        isOver = false
        observe(.seeked, session, now: now.instant)
        pump(&session, now: now)
    }

    /// Nothing more is wanted.
    mutating func stop() {
        isOver = true
        for number in fetches.keys.sorted() { cancel(number) }
    }

    /// All is there, or nothing more will come: what is buffered is played, then the end or the error is reported.
    mutating func give(up error: ProbeError?, _ session: inout PlaybackSession, now: MonotonicInstant) {
        stop()
        waiting = []
        session.exhausted(error, now: now)
    }
}

// MARK: Fetching
extension StreamLoader {
    mutating func fetch(
        _ purpose: FetchPurpose,
        _ url: HTTPURL,
        range: ByteRange? = nil,
        now: MonotonicInstant
    ) {
        let policy = profile[retry: purpose.kind].limited(by: configuration)
        let request = ResourceRequest(
            kind: purpose.kind,
            url: url,
            range: range,
            timeout: policy.loadTimeout ?? configuration.limits.longestFetch,
            maxBytes: configuration.limits.bytes(of: purpose.kind),
            maxBitrate: configuration.limits.maximumBandwidth,
            isFirst: nextNumber == 0
        )
        let fetching = Fetching(
            number: nextNumber,
            purpose: purpose,
            request: request,
            buffer: FetchBuffer(),
            begun: now,
            failures: retries[purpose]?.failures ?? 0,
            policy: policy
        )
        nextNumber += 1
        fetches[fetching.number] = fetching
        commands.append(.fetch(fetching))
        watch(fetching)
    }

    mutating func cancel(_ number: Int, _ why: ResourceFailure = .notWanted) {
        guard let fetching = fetches.removeValue(forKey: number) else { return }
        commands.append(.cancel(fetching, why))
    }

    /// Ends what is on its way for a role, and forgets how often it has failed.
    mutating func cancel(_ role: StreamRole, _ session: inout PlaybackSession) {
        for fetching in fetches.values.sorted(by: { $0.number < $1.number }) where fetching.purpose.role == role {
            cancel(fetching.number)
            session.count(requestOf: fetching.buffer.count, throughput: nil, hasFailed: false)
        }
        retries = retries.filter { $0.key.role != role }
    }

    var isFetching: Bool { !fetches.isEmpty }

    func fetching(_ purpose: FetchPurpose) -> Fetching? { fetches.values.first { $0.purpose == purpose } }

    /// Whether something is on its way for a role, or has to wait before it is tried again.
    func isBusy(_ role: StreamRole) -> Bool { fetches.values.contains { $0.purpose.role == role } }

    mutating func takeCommands() -> [LoadCommand] {
        defer { commands = [] }
        return commands
    }
}
