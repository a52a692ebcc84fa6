/// The names of the xAPI Video Profile 1.0.
public enum VideoVocabulary {
    /// The category that says that a statement follows the profile.
    public static let profile: IRI = "https://w3id.org/xapi/video"
    /// The type of a video.
    public static let activityType: IRI = "https://w3id.org/xapi/video/activity-type/video"

    /// The session begins; first, and once.
    public static let initialized = adl("initialized")
    /// Playing began or goes on.
    public static let played = video("played")
    /// Playing stopped for now.
    public static let paused = video("paused")
    /// The viewer jumped.
    public static let seeked = video("seeked")
    /// The viewer changed volume, quality, subtitles …
    public static let interacted = adl("interacted")
    /// Enough was played; once in a registration.
    public static let completed = adl("completed")
    /// The session is over; last.
    public static let terminated = adl("terminated")

    /// The name of an extension: `length`, `time`, `session-id` …
    public static func `extension`(_ name: String) -> IRI {
        IRI(stringLiteral: "https://w3id.org/xapi/video/extensions/\(name)")
    }

    private static func adl(_ name: String) -> Statement.Verb {
        Statement.Verb(IRI(stringLiteral: "http://adlnet.gov/expapi/verbs/\(name)"), display: ["en-US": name])
    }

    private static func video(_ name: String) -> Statement.Verb {
        Statement.Verb(IRI(stringLiteral: "https://w3id.org/xapi/video/verbs/\(name)"), display: ["en-US": name])
    }
}
