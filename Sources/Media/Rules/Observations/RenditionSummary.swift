public import InstrumentHTTP

/// What a check knows of a rendition at its end.
public struct RenditionSummary: Sendable {
    /// The role of the rendition in the presentation.
    public enum Role: Hashable, Sendable {
        /// Pictures, sound, or both.
        case media
        /// Subtitles.
        case subtitles
        /// Keyframes for fast forward and rewind.
        case keyframes
    }

    /// The rendition as the presentation names it.
    public var rendition: String
    /// The address of the media playlist or the MPD.
    public var url: HTTPURL
    /// The role of the rendition.
    public var role: Role
    /// The reason for which no segment of the rendition can be played, as a noun; nil if one can.
    public var emptiness: Emptiness?
    /// The duration of all segments, in nanoseconds; nil while segments may be added.
    public var duration: Int64?
    /// The longest segment, in nanoseconds.
    public var targetDuration: Int64 = 0

    /// The reason for which no segment can be played.
    public struct Emptiness: Hashable, Sendable {
        /// What was found, as a noun.
        public var found: String
        /// What to do, as a sentence.
        public var advice: String

        /// Creates a reason.
        public init(found: String, advice: String) {
            self.found = found
            self.advice = advice
        }
    }

    /// Creates a summary.
    public init(rendition: String, url: HTTPURL, role: Role) {
        self.rendition = rendition
        self.url = url
        self.role = role
    }
}
