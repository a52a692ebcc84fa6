public import Instrument
package import InstrumentJSON

/// Converts a player's events to statements of the xAPI Video Profile.
///
/// A pure value: the same events and random numbers give the same statements. Use one value per tracker. There
/// are no statements until the video's duration is known, because the profile does not cover live streams;
/// segments that were played until then count. The next attempt continues with `history`.
///
/// Source: xAPI Video Profile 1.0.
public struct VideoProfile: Sendable {
    /// Viewer and video.
    public struct Viewing: Hashable, Sendable {
        /// The viewer.
        package var viewer: Statement.Actor
        /// The video.
        package var activity: IRI
        /// The video's name.
        package var name: LanguageMap
        /// The UUID of the attempt or course.
        package var registration: SampleID?
        /// The progress that counts as completed, above 0 and up to 1.
        package var completionThreshold: Double

        /// Creates a viewing; by default, the whole video must be played.
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

    /// The viewing history over all attempts; store it per viewer, video and registration.
    package struct History: Hashable, Sendable {
        /// The played segments.
        package var segments: PlayedSegments
        /// Whether `completed` was sent.
        package var isCompleted: Bool

        /// Creates a history; by default an empty one.
        package init(segments: PlayedSegments = PlayedSegments(), isCompleted: Bool = false) {
            self.segments = segments
            self.isCompleted = isCompleted
        }
    }

    /// A session after its `initialized`.
    struct Session: Hashable {
        let id: SampleID
        let began: MonotonicInstant
        /// The video's length in milliseconds.
        let length: Int
    }

    /// The phase of the player. Positions are in milliseconds.
    enum Phase: Hashable {
        case idle
        case playing(from: Int)
        case paused
        case seeking(from: Int, isPlaying: Bool)
    }

    /// The state of a player; the initial value for an idle player.
    struct Playback: Hashable {
        var session: Session?
        var phase = Phase.idle
        /// The latest position of the playhead, in milliseconds.
        var place = 0
    }

    /// Viewer and video.
    package let viewing: Viewing
    /// The closed segments of all attempts.
    var past: History
    private let randomness: RandomSource
    var session: Session?
    var phase = Phase.idle
    /// The latest position of the playhead, in milliseconds.
    var place = 0

    /// Creates the profile of one tracker's playbacks.
    package init(of viewing: Viewing, history: History = History(), randomness: RandomSource = RandomSource()) {
        self.viewing = viewing
        past = history
        self.randomness = randomness
    }

    /// Creates a profile that continues from the state of another one.
    init(of viewing: Viewing, history: History, playback: Playback, randomness: RandomSource) {
        self.init(of: viewing, history: history, randomness: randomness)
        (session, phase, place) = (playback.session, playback.phase, playback.place)
    }

    var playback: Playback { Playback(session: session, phase: phase, place: place) }

    /// The history including the open segment; save it from time to time, for example at each ping.
    package var history: History {
        guard case .playing(let from) = phase else { return past }
        var history = past
        history.segments.append(from: from, to: place)
        return history
    }

    /// Returns the statements for an event, in order, often none. Events of ads have none.
    package mutating func statements(for event: Event) -> [Statement] {
        if event[.isAdsTracker] == true { return [] }
        see(event)
        let announcement = announcement(at: event)
        return announcement + reaction(to: event)
    }

    /// Returns the statements for a change by the viewer, under the names of the profile's extensions: `volume`
    /// (0 to 1), `full-screen`, `speed` (`1x`), `cc-subtitle-enabled`, `cc-subtitle-lang`, `quality`,
    /// `screen-size` (`1920x1080`) …
    package mutating func statements(forChanging changes: [String: JSONValue], at event: Event) -> [Statement] {
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

    /// Returns the statements for the end of the app or of the player.
    package mutating func statements(forTerminationAt event: Event) -> [Statement] {
        see(event)
        return terminate(at: event)
    }

    func makeID() -> SampleID {
        SampleID(randomness.identifier()) ?? SampleID(log: randomness.next(), sequence: randomness.next())
    }

    /// Updates the position if the event has one.
    private mutating func see(_ event: Event) {
        guard let position = event[milliseconds: .position] else { return }
        place = min(max(0, position), session?.length ?? .max)
    }
}
