public import Instrument
public import InstrumentJSON

/// Turns what a player reports into statements of the xAPI Video Profile.
///
/// ```swift
/// var profile = VideoProfile(of: VideoProfile.Viewing(viewer: viewer, activity: "https://example.org/films/1"))
/// for statement in profile.statements(for: event) { queue(statement) }
/// ```
///
/// A value that knows no clock and sends nothing: the same events and random numbers give the same statements. One
/// belongs to one tracker. Nothing is said until the video's duration is known, because the profile cannot speak of
/// live streams; what was played until then counts. ``history`` is what the next attempt goes on with.
///
/// Source: xAPI Video Profile 1.0.
public struct VideoProfile: Sendable {
    /// Who watches what.
    public struct Viewing: Hashable, Sendable {
        /// Who watches.
        public var viewer: Statement.Actor
        /// The video.
        public var activity: IRI
        /// The video's name.
        public var name: LanguageMap
        /// The UUID of the attempt or course that this belongs to.
        public var registration: SampleID?
        /// The progress that counts as having seen it, above 0 and up to 1.
        public var completionThreshold: Double

        /// Creates a viewing; by default all has to be seen.
        public init(
            viewer: Statement.Actor,
            activity: IRI,
            name: LanguageMap = [:],
            registration: SampleID? = nil,
            completionThreshold: Double = 1
        ) {
            self.viewer = viewer
            self.activity = activity
            self.name = name
            self.registration = registration
            self.completionThreshold = min(1, max(0.001, completionThreshold))
        }
    }

    /// What was seen in all attempts of a registration; to be kept per viewer, video and registration.
    public struct History: Hashable, Sendable {
        /// What was played.
        public var segments: PlayedSegments
        /// Whether `completed` was said.
        public var isCompleted: Bool

        /// Creates a history; by default of a first attempt.
        public init(segments: PlayedSegments = PlayedSegments(), isCompleted: Bool = false) {
            self.segments = segments
            self.isCompleted = isCompleted
        }
    }

    /// A session that was announced.
    struct Session: Hashable {
        let id: SampleID
        let began: MonotonicInstant
        /// The video's length in milliseconds.
        let length: Int
    }

    /// What the player does. Places are in milliseconds.
    enum Phase: Hashable {
        case idle
        case playing(from: Int)
        case paused
        case seeking(from: Int, isPlaying: Bool)
    }

    /// What a player is doing; that of one that does nothing is a new one.
    struct Playback: Hashable {
        var session: Session?
        var phase = Phase.idle
        /// Where the playhead was last seen, in milliseconds.
        var place = 0
    }

    /// Who watches what.
    public let viewing: Viewing
    /// What was seen in parts that are over, in all attempts up to now.
    var past: History
    private let randomness: RandomSource
    var session: Session?
    var phase = Phase.idle
    /// Where the playhead was last seen, in milliseconds.
    var place = 0

    /// Creates the profile of one tracker's playbacks.
    public init(of viewing: Viewing, history: History = History(), randomness: RandomSource = RandomSource()) {
        self.viewing = viewing
        past = history
        self.randomness = randomness
    }

    /// Creates a profile that goes on where another one was.
    init(of viewing: Viewing, history: History, playback: Playback, randomness: RandomSource) {
        self.init(of: viewing, history: history, randomness: randomness)
        (session, phase, place) = (playback.session, playback.phase, playback.place)
    }

    var playback: Playback { Playback(session: session, phase: phase, place: place) }

    /// What was seen in all attempts up to now; save it from time to time, at a ping for example.
    public var history: History {
        guard case .playing(let from) = phase else { return past }
        var history = past
        history.segments.append(from: from, to: place)
        return history
    }

    /// What is to be said of an event, in order; often nothing. Events of ads are not the video's.
    public mutating func statements(for event: Event) -> [Statement] {
        if event[.isAdsTracker] == true { return [] }
        see(event)
        let announcement = announcement(at: event)
        return announcement + reaction(to: event)
    }

    /// What is to be said when the viewer changes something, under the names of the profile's extensions: `volume` (0
    /// to 1), `full-screen`, `speed` (`1x`), `cc-subtitle-enabled`, `cc-subtitle-lang`, `quality`, `screen-size`
    /// (`1920x1080`) …
    public mutating func statements(forChanging changes: [String: JSONValue], at event: Event) -> [Statement] {
        see(event)
        guard let session, !changes.isEmpty else { return [] }
        let extensions = changes.map { (VideoVocabulary.extension($0.key), $0.value) }
        return [
            statement(
                VideoVocabulary.interacted,
                in: session,
                at: event,
                result: ["time": Self.seconds(place)],
                context: Dictionary(extensions) { first, _ in first }
            )
        ]
    }

    /// What is to be said when the app ends, or the player goes away.
    public mutating func statements(forTerminationAt event: Event) -> [Statement] {
        see(event)
        return terminate(at: event)
    }

    func makeID() -> SampleID {
        SampleID(randomness.identifier()) ?? SampleID(log: randomness.next(), sequence: randomness.next())
    }

    /// Remembers the place, if the event knows it.
    private mutating func see(_ event: Event) {
        guard let position = event[milliseconds: .position] else { return }
        place = min(max(0, position), session?.length ?? .max)
    }
}
