/// The names of the xAPI Video Profile 1.0.
package enum VideoVocabulary {
    /// The category of statements that follow the profile.
    package static let profile: IRI = "https://w3id.org/xapi/video"
    /// The activity type of a video.
    package static let activityType: IRI = "https://w3id.org/xapi/video/activity-type/video"

    /// The session begins: the first statement, sent once.
    package static let initialized = adl("initialized")
    /// Playback starts or resumes.
    package static let played = video("played")
    /// Playback pauses.
    package static let paused = video("paused")
    /// The viewer seeks.
    package static let seeked = video("seeked")
    /// The viewer changes volume, quality, subtitles …
    package static let interacted = adl("interacted")
    /// The completion threshold is reached; sent once per registration.
    package static let completed = adl("completed")
    /// The session ends: the last statement.
    package static let terminated = adl("terminated")

    /// Returns the name of an extension: `length`, `time`, `session-id` …
    package static func `extension`(_ name: String) -> IRI {
        IRI(stringLiteral: "https://w3id.org/xapi/video/extensions/\(name)")
    }

    private static func adl(_ name: String) -> Statement.Verb {
        Statement.Verb(IRI(stringLiteral: "http://adlnet.gov/expapi/verbs/\(name)"), display: ["en-US": name])
    }

    private static func video(_ name: String) -> Statement.Verb {
        Statement.Verb(IRI(stringLiteral: "https://w3id.org/xapi/video/verbs/\(name)"), display: ["en-US": name])
    }
}
