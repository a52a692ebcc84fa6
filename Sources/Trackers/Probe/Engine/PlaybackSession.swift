internal import Instrument

/// The state of a probe's playback; turns the transitions of the model into signals.
///
/// A value that engines change under a lock. Signals gather in `outbox`, and are delivered outside the lock.
struct PlaybackSession {
    // The extensions of this type, one a file, change these members; engines only read them.
    var model: PlaybackModel?
    var info = MediaInfo()
    var outcome: ProbeOutcome?
    /// The instant at which playback was requested; nil before.
    var requested: MonotonicInstant?
    /// The time from the request to the first frame of any media, be it an ad's; nil before (CTA-5004-B, Table 1,
    /// `msd`).
    private(set) var startDelay: Duration?
    /// The session of the reports on the requests; nil without reports.
    var requestSession: String?
    /// The position at which the reader, or the loading, has to continue.
    var pendingSeek: Int64?
    /// What the driver has to deliver, in order.
    var news: [PlaybackNews] = []
    /// Whether an ad break holds the playhead.
    var isHeld = false
    /// The position that is reported while the playhead is held: a break may move the playhead before it ends.
    var heldPosition: Int64?
    /// The markers for the model, before the model exists.
    var earlyMarkers: [PlaybackMarker] = []

    let source: MediaSource
    /// Looked up once: the file may have gone by the end.
    let sourceText: String
    /// The title of a source without another one; read once, as each signal has the title.
    let fileName: String
    let configuration: ProbeConfiguration
    var quality = PlayedQuality()
    var media = ReceivedMedia()
    var rate = PlaybackRate()
    var network = NetworkSums()
    private(set) var stallCount = 0
    /// The reason for which loading ended early; nil at the regular end.
    var failure: ProbeError?
    /// The state before a seek, which returns if the source refuses the seek.
    var beforeSeek: (model: PlaybackModel, failure: ProbeError?, isRelocation: Bool)?
    var isPaused = false

    init(source: MediaSource, configuration: ProbeConfiguration) {
        self.source = source
        sourceText = source.sourceText
        fileName = source.fileName
        self.configuration = configuration
    }

    // MARK: Time

    /// Lets time pass.
    mutating func advance(to now: MonotonicInstant) {
        // A transition may release the playhead, so that others follow.
        while outcome == nil, let transitions = model?.advance(to: now), !transitions.isEmpty {
            for transition in transitions { handle(transition) }
        }
    }

    /// The viewer sees media; the first time counts.
    mutating func noteFirstFrame(at instant: MonotonicInstant) {
        if startDelay == nil { startDelay = requested?.duration(to: instant) }
    }

    private mutating func handle(_ transition: PlaybackModel.Transition) {
        let (instant, position) = (transition.instant, transition.position)
        switch transition.kind {
        case .stalled:
            stallCount += 1
            signal(.bufferBegin, at: instant, position: position)
        case .filled(.seek): signal(.seekFinish, at: instant, position: position)
        case .filled(.start), .filled(.stall): signal(.bufferFinish, at: instant, position: position)
        case .filled(.hold): break
        case .passed(let marker): passed(marker, at: instant, position: position)
        case .started:
            noteFirstFrame(at: instant)
            signal(.start, at: instant, position: position)
        case .reached(let reached):
            if let change = quality.reach(reached) { signal(change, at: instant, position: position) }
        case .ended:
            if let failure { return fail(failure, at: instant, position: position) }
            signal(.end, at: instant, position: position)
            outcome = .ended
        }
    }
}
