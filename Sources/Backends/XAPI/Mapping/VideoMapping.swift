public import Instrument
public import InstrumentJSON

/// Player events as statements of the xAPI Video Profile: the backend's usual mapping.
///
/// What was played is remembered per viewer, video and registration, over all attempts and restarts; what each player
/// is doing is remembered beside it, so that a batch that is sent again gives the same bytes. A session that a crash
/// left open stays open, as the profile has no word for that; what it had played counts in the next. A sample that the LRS
/// refuses is remembered like any other: a retry of the dead letter sends the statements of then.
///
/// What has no duration when it plays is a live stream, of which the profile cannot speak; the plain mapping does.
public struct VideoMapping: XAPIMapping {
    private let viewings: Viewings
    private let live: PlainMapping?

    /// Creates a mapping; `live` says what is said of streams without a duration, nil: nothing.
    public init(viewings: Viewings, live: PlainMapping?) {
        self.viewings = viewings
        self.live = live
    }

    /// Creates a mapping that speaks of live streams in plain xAPI.
    public init(viewings: Viewings) { self.init(viewings: viewings, live: PlainMapping(viewings: viewings)) }

    /// One name for a viewer, a video and a registration.
    public func memoryKey(for record: SampleRecord) -> String? {
        guard case .event(let event) = record.sample, event[.isAdsTracker] != true,
            let viewing = viewings(record.sample)
        else { return nil }
        let parts: JSONValue = [
            viewing.viewer.json, viewing.activity.json, viewing.registration.map(JSONValue.id) ?? .null,
        ]
        return SHA256.hexadecimal(of: parts.bytes)
    }

    /// What the profile says of an event, often nothing.
    public func statements(for record: SampleRecord, remembering memory: inout JSONValue) -> [Statement] {
        guard case .event(let event) = record.sample, event[.isAdsTracker] != true,
            let viewing = viewings(record.sample)
        else { return [] }
        let player = event.attributes[.senderId] ?? "\(event.tracker)"
        var screenings = VideoMemory(json: memory)
        screenings.takeOver(by: player)
        var profile = VideoProfile(
            of: viewing,
            history: screenings.history,
            playback: screenings.playback(of: player),
            randomness: RandomSource(DerivedBits(id: record.id))
        )
        let statements = profile.statements(for: event)
        screenings.keep(profile, of: player)
        memory = screenings.json
        guard statements.isEmpty, profile.session == nil, Self.isOfPlaying(event), let live else { return statements }
        return live.statements(for: record, remembering: &memory)
    }

    /// What a live stream is spoken of at; loading is not among them, because a duration may still come.
    private static func isOfPlaying(_ event: Event) -> Bool {
        guard event[milliseconds: .duration] ?? 0 <= 0 else { return false }
        switch event.action {
        case .start, .pauseBegin, .pauseFinish, .seekFinish, .forwardFinish, .rewindFinish, .volumeChange, .stop, .end,
            .next:
            return true
        default: return false
        }
    }
}
