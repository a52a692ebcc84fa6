public import Instrument
public import InstrumentJSON

/// Maps events to plain xAPI without a profile, one statement per event: for live streams and custom actions.
///
/// | part | from |
/// |---|---|
/// | actor, object | ``Viewings`` |
/// | verb | played, paused, seeked, initialized, interacted, terminated; otherwise the action's name below `base` |
/// | context | registration (the viewing's, else `playbackId`), platform (`trackerTarget`), attributes as extensions |
/// | id, timestamp | the sample's |
///
/// By default there are no statements for metrics, pings, ads, events that only begin something (`SeekBegin`,
/// `BufferBegin` …), and events before a stream is loaded (`TrackerInit` … `ManifestLoad`).
public struct PlainMapping: XAPIMapping {
    private let viewings: Viewings
    private let base: IRI
    private let isSaid: @Sendable (Sample) -> Bool

    /// Creates a mapping.
    public init(
        viewings: Viewings,
        base: IRI = XAPIVocabulary.base,
        isSaid: @escaping @Sendable (Sample) -> Bool = PlainMapping.isUsuallySaid
    ) {
        self.viewings = viewings
        self.base = base
        self.isSaid = isSaid
    }

    /// Returns whether a sample has a statement by default.
    @Sendable
    public static func isUsuallySaid(_ sample: Sample) -> Bool {
        guard case .event(let event) = sample, event[.isAdsTracker] != true else { return false }
        return !silent.contains(event.action)
    }

    private static let silent: Set<Action> = [
        .trackerInit, .playerSet, .playerReady, .mediaRequest, .prepareItem, .manifestLoad, .ping, .bufferBegin,
        .bufferFinish, .seekBegin, .forwardBegin, .rewindBegin, .adBreakBegin, .adBreakFinish,
    ]

    private static let verbs: [Action: Statement.Verb] = [
        .streamLoad: VideoVocabulary.initialized, .start: VideoVocabulary.played,
        .pauseFinish: VideoVocabulary.played, .pauseBegin: VideoVocabulary.paused,
        .seekFinish: VideoVocabulary.seeked, .forwardFinish: VideoVocabulary.seeked,
        .rewindFinish: VideoVocabulary.seeked, .qualityChangeUp: VideoVocabulary.interacted,
        .qualityChangeDown: VideoVocabulary.interacted, .volumeChange: VideoVocabulary.interacted,
        .stop: VideoVocabulary.terminated,
        .end: VideoVocabulary.terminated, .next: VideoVocabulary.terminated,
    ]

    /// Returns one statement or none.
    public func statements(for record: SampleRecord, remembering memory: inout JSONValue) -> [Statement] {
        guard isSaid(record.sample), let viewing = viewings(record.sample) else { return [] }
        return [statement(for: record, viewing)]
    }

    private func statement(for record: SampleRecord, _ viewing: VideoProfile.Viewing) -> Statement {
        let attributes = record.sample.attributes
        let definition = Statement.Definition(name: viewing.name, type: VideoVocabulary.activityType)
        return Statement(
            id: record.id,
            actor: viewing.viewer,
            verb: verb(for: record.sample),
            object: .activity(Statement.Activity(viewing.activity, definition: definition)),
            result: result(of: record.sample),
            context: Statement.Context(
                registration: viewing.registration ?? attributes[.playbackId].flatMap { SampleID($0) },
                platform: attributes[.trackerTarget].flatMap { $0.isEmpty ? nil : $0 },
                extensions: extensions(attributes)
            ),
            timestamp: record.sample.time.wallTime
        )
    }

    private func verb(for sample: Sample) -> Statement.Verb {
        switch sample {
        case .event(let event): Self.verbs[event.action] ?? XAPIVocabulary.verb(event.action, base: base)
        case .metric: XAPIVocabulary.verb(Action("Measured"), base: base)
        }
    }

    /// The name and the value of a metric.
    private func result(of sample: Sample) -> Statement.Result? {
        guard case .metric(let metric) = sample else { return nil }
        let value: JSONValue =
            switch metric.value {
            case .int(let number): .int(number)
            case .double(let number): .double(number)
            }
        return Statement.Result(
            extensions: [XAPIVocabulary.extension("metric/" + metric.name.spelling, base: base): value]
        )
    }

    private func extensions(_ attributes: Attributes) -> Extensions {
        let values = attributes.map { (XAPIVocabulary.extension($0.name.spelling, base: base), JSONValue($0.value)) }
        return Dictionary(values) { _, last in last }
    }
}
