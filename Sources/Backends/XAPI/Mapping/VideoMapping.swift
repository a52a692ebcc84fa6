public import Instrument
public import InstrumentJSON

/// Maps player events to statements of the xAPI Video Profile: the backend's usual mapping.
///
/// The memory holds the played segments per viewer, video and registration, over all attempts and restarts, and
/// the state of each player, so that a batch gives the same bytes at every attempt. A session that a crash
/// interrupted stays open, because the profile has no statement for that; its played segments count in the next
/// session. A sample that the LRS refuses changes the memory like any other: a retry of the dead letter sends
/// the refused statements.
///
/// The stream, the labels and the location of a monitor are extensions of the context (`monitorStream`, …).
///
/// A stream that has no duration while it plays is live. The profile does not cover live streams; the plain
/// mapping does.
public struct VideoMapping: XAPIMapping {
    private let viewings: Viewings
    private let live: PlainMapping?

    /// Creates a mapping; `live` maps the events of live streams, which have no statements if it is nil.
    package init(viewings: Viewings, live: PlainMapping?) {
        self.viewings = viewings
        self.live = live
    }

    /// Creates a mapping that maps the events of live streams to plain xAPI.
    public init(viewings: Viewings) { self.init(viewings: viewings, live: PlainMapping(viewings: viewings)) }

    /// Returns one key for a viewer, a video and a registration.
    public func memoryKey(for record: SampleRecord) -> String? {
        guard case .event(let event) = record.sample, event[.isAdsTracker] != true,
            let viewing = viewings(record.sample)
        else { return nil }
        let parts: JSONValue = [
            viewing.viewer.json, viewing.activity.json, viewing.registration.map(JSONValue.id) ?? .null,
        ]
        return SHA256.hexadecimal(of: parts.bytes)
    }

    /// Returns the statements of the profile for an event, often none.
    public func statements(for record: SampleRecord, remembering memory: inout JSONValue) -> [Statement] {
        statements(for: [record], remembering: &memory).first ?? []
    }

    /// Returns the statements of the profile for each event; reads and writes the memory once.
    public func statements(for records: [SampleRecord], remembering memory: inout JSONValue) -> [[Statement]] {
        var screenings = VideoMemory(json: memory)
        var all: [[Statement]] = []
        for record in records { all.append(statements(for: record, remembering: &screenings)) }
        if screenings.isChanged { memory = screenings.json }
        return all
    }

    private func statements(for record: SampleRecord, remembering screenings: inout VideoMemory) -> [Statement] {
        guard case .event(let event) = record.sample, event[.isAdsTracker] != true,
            let viewing = viewings(record.sample)
        else { return [] }
        let player = event.attributes[.senderId] ?? "\(event.tracker)"
        screenings.takeOver(by: player)
        var profile = VideoProfile(
            of: viewing,
            history: screenings.history,
            playback: screenings.playback(of: player),
            randomness: RandomSource(DerivedBits(id: record.id))
        )
        let monitor = XAPIVocabulary.monitorExtensions(event.attributes)
        let statements = profile.statements(for: event).map { statement in
            if monitor.isEmpty { return statement }
            var statement = statement
            var context = statement.context ?? Statement.Context()
            context.extensions.merge(monitor) { own, _ in own }
            statement.context = context
            return statement
        }
        screenings.keep(profile, of: player)
        guard statements.isEmpty, profile.session == nil, Self.isOfPlaying(event), let live else { return statements }
        // The plain mapping has no memory.
        var none = JSONValue.null
        return live.statements(for: record, remembering: &none)
    }

    /// Whether the event of a live stream has a statement. Loading has none, because the duration may still
    /// become known.
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
