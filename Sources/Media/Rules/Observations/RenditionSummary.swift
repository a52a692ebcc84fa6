package import InstrumentHTTP

/// What a check knows of a rendition at its end.
package struct RenditionSummary: Sendable {
    /// The role of the rendition in the presentation.
    package enum Role: Hashable, Sendable {
        /// Pictures, sound, or both.
        case media
        /// Subtitles.
        case subtitles
        /// Keyframes for fast forward and rewind.
        case keyframes
    }

    /// The rendition as the presentation names it.
    package var rendition: String
    /// The address of the media playlist or the MPD.
    package var url: HTTPURL
    /// The role of the rendition.
    package var role: Role
    /// The reason for which no segment of the rendition can be played, as a noun; nil if one can.
    package var emptiness: Emptiness?
    /// The duration of all segments, in nanoseconds; nil while segments may be added.
    package var duration: Int64?
    /// The longest segment, in nanoseconds.
    package var targetDuration: Int64 = 0

    /// The reason for which no segment can be played.
    package struct Emptiness: Hashable, Sendable {
        /// What was found, as a noun.
        package var found: String
        /// What to do, as a sentence.
        package var advice: String

        /// Creates a reason.
        package init(found: String, advice: String) {
            self.found = found
            self.advice = advice
        }
    }

    /// Creates a summary.
    package init(rendition: String, url: HTTPURL, role: Role) {
        self.rendition = rendition
        self.url = url
        self.role = role
    }
}
