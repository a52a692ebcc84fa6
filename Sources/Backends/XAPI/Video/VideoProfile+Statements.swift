internal import Instrument
internal import InstrumentJSON

/// The content of the statements.
extension VideoProfile {
    func initialized(_ session: Session, at event: Event) -> Statement {
        var context = lengthAndThreshold(of: session)
        for (name, value) in Self.circumstances(of: event) { context[VideoVocabulary.extension(name)] = value }
        var statement = statement(VideoVocabulary.initialized, in: session, at: event, context: context)
        statement.id = session.id
        return statement
    }

    func played(in session: Session, from start: Int, at event: Event) -> Statement {
        statement(VideoVocabulary.played, in: session, at: event, result: ["time": Self.seconds(start)])
    }

    /// The common parts of `paused`, `completed` and `terminated`.
    func progress(_ verb: Statement.Verb, in session: Session, at event: Event) -> Statement {
        let segments = past.segments.clipped(toMilliseconds: session.length)
        let result: [String: JSONValue] = [
            "time": Self.seconds(place),
            "progress": .number(segments.progress(ofMilliseconds: session.length)),
            "played-segments": .string(segments.description),
        ]
        return statement(verb, in: session, at: event, result: result, context: lengthAndThreshold(of: session))
    }

    func statement(
        _ verb: Statement.Verb,
        in session: Session,
        at event: Event,
        result: [String: JSONValue] = [:],
        context: Extensions = [:]
    ) -> Statement {
        let results = result.map { (VideoVocabulary.extension($0.key), $0.value) }
        let extensions = context.merging([VideoVocabulary.extension("session-id"): .id(session.id)]) { _, id in id }
        return Statement(
            id: makeID(),
            actor: viewing.viewer,
            verb: verb,
            object: .activity(
                Statement.Activity(
                    viewing.activity,
                    definition: Statement.Definition(name: viewing.name, type: VideoVocabulary.activityType)
                )
            ),
            result: result.isEmpty ? nil : Statement.Result(extensions: Dictionary(results) { first, _ in first }),
            context: Statement.Context(
                registration: viewing.registration,
                activities: Statement.ContextActivities(category: [Statement.Activity(VideoVocabulary.profile)]),
                extensions: extensions
            ),
            timestamp: event.time.wallTime
        )
    }

    private func lengthAndThreshold(of session: Session) -> Extensions {
        var extensions: Extensions = [VideoVocabulary.extension("length"): Self.seconds(session.length)]
        if viewing.completionThreshold < 1 {
            extensions[VideoVocabulary.extension("completion-threshold")] = .number(viewing.completionThreshold)
        }
        return extensions
    }

    /// The optional extensions from the event's attributes.
    private static func circumstances(of event: Event) -> [String: JSONValue] {
        var known: [String: JSONValue] = [:]
        known["quality"] = quality(of: event)
        known["frame-rate"] = event[.fps].map(JSONValue.number)
        known["volume"] = volume(of: event)
        if let subtitles = event[.subtitles] {
            known["cc-subtitle-enabled"] = .bool(!subtitles.isEmpty)
            if !subtitles.isEmpty { known["cc-subtitle-lang"] = .string(subtitles) }
        }
        return known
    }

    /// The volume, from 0 to 1.
    private static func volume(of event: Event) -> JSONValue? {
        if event[.isMuted] == true { return 0 }
        return event[.volume].map { .number(Double(min(max($0, 0), 100)) / 100) }
    }

    /// The extensions of `interacted` about the sound. The profile defines `volume`; other players also send `muted`.
    static func sound(of event: Event) -> [String: JSONValue] {
        var known: [String: JSONValue] = [:]
        known["volume"] = volume(of: event)
        known["muted"] = event[.isMuted].map(JSONValue.bool)
        return known
    }

    /// `1920x1080`
    static func quality(of event: Event) -> JSONValue? {
        guard let width = event[.resolutionWidth], let height = event[.resolutionHeight] else { return nil }
        return .string("\(width)x\(height)")
    }

    static func seconds(_ milliseconds: Int) -> JSONValue { .number(Double(milliseconds) / 1000) }
}
