public import Instrument
internal import InstrumentTransport

extension Action {
    /// A stream has a defect that playback survives.
    public static let streamWarning = Action("StreamWarning")
}

/// A defect of a stream that playback survives: viewers may notice it, and its publisher can correct it.
package struct StreamWarning: Hashable, Sendable {
    /// The kind of a warning. The set is open: later versions may report further kinds, and an app or a test may create
    /// kinds, so a `switch` over kinds needs a `default`.
    package struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind as a short text, which the `warningCode` attribute carries.
        package let description: String

        /// Creates a kind; kinds with the same text are equal.
        ///
        /// - Parameter description: a short text in lower camel case.
        package init(_ description: String) { self.description = description }

        private init(_ known: Known) { description = known.rawValue }

        /// The kinds of this version, as a list for those that must treat each of them.
        package enum Known: String, CaseIterable {
            case timestampJump, noKeyframe, tracksApart, wrongDuration, wrongBitrate, wrongResolution
            case unplayableMedia, frameGap, missingTrack, missingSegment, lateSubtitles, missingSubtitles
            case malformedSubtitles, subtitleTimes, latePlaylist, expiredSegments, rangeIgnored, preloadHint
            case manifestPatch, notSupported, steering, adSignal, notBegun
        }

        /// Timestamps jump within a continuous sequence.
        package static let timestampJump = Kind(.timestampJump)
        /// A segment does not begin with a keyframe, so that its first pictures cannot be shown after a switch or a
        /// seek.
        package static let noKeyframe = Kind(.noKeyframe)
        /// Audio and video of a segment begin or end far apart.
        package static let tracksApart = Kind(.tracksApart)
        /// A segment is longer or shorter than its playlist declares.
        package static let wrongDuration = Kind(.wrongDuration)
        /// A segment has a higher bitrate than its variant declares.
        package static let wrongBitrate = Kind(.wrongBitrate)
        /// A picture has another size than its variant declares.
        package static let wrongResolution = Kind(.wrongResolution)
        /// No browser plays the media: its packaging or its codec is none that Media Source Extensions take, or the
        /// manifest declares another codec.
        package static let unplayableMedia = Kind(.unplayableMedia)
        /// Frames are missing within a segment.
        package static let frameGap = Kind(.frameGap)
        /// A segment lacks the sound or the pictures that the segment before it has.
        package static let missingTrack = Kind(.missingTrack)
        /// A segment is missing: the playlist declares a gap, or the retries are used up.
        package static let missingSegment = Kind(.missingSegment)
        /// The playhead has reached subtitles that have not arrived.
        package static let lateSubtitles = Kind(.lateSubtitles)
        /// Subtitles are missing: in the language that was asked for, or because the retries are used up.
        package static let missingSubtitles = Kind(.missingSubtitles)
        /// Subtitles are not valid WebVTT or TTML.
        package static let malformedSubtitles = Kind(.malformedSubtitles)
        /// Cues of subtitles are shown at no time of their segment.
        package static let subtitleTimes = Kind(.subtitleTimes)
        /// The reload of a playlist fails, or a live playlist does not change in time.
        package static let latePlaylist = Kind(.latePlaylist)
        /// Segments left the live window before they were fetched.
        package static let expiredSegments = Kind(.expiredSegments)
        /// A server sent the whole file where a byte range was requested.
        package static let rangeIgnored = Kind(.rangeIgnored)
        /// A resource that a low-latency playlist hints at cannot be fetched.
        package static let preloadHint = Kind(.preloadHint)
        /// A patch of an MPD cannot be fetched, or does not fit to the MPD.
        package static let manifestPatch = Kind(.manifestPatch)
        /// The manifest uses a feature that the probe ignores.
        package static let notSupported = Kind(.notSupported)
        /// A steering server failed, or its answer cannot be read.
        package static let steering = Kind(.steering)
        /// A signal of an ad break, or an interstitial, is malformed or contradicts others.
        package static let adSignal = Kind(.adSignal)
        /// A live presentation begins later than ten seconds from now; playback waits until then, however long.
        package static let notBegun = Kind(.notBegun)
    }

    /// The kind of the defect.
    package let kind: Kind
    /// The description of the defect, for people.
    package let message: String
    /// The address of the resource with the defect, without credentials and query.
    package let url: String?
    /// The time until the first segment is available, of a presentation that has not begun.
    var wait: Duration?

    init(_ kind: Kind, _ message: String, _ url: HTTPURL?) {
        self.init(kind: kind, message: message, url: url?.description)
    }

    init(kind: Kind, message: String, url: String?) {
        self.kind = kind
        self.message = message
        self.url = url
    }

    var attributes: Attributes {
        var attributes = Attributes()
        attributes[.warningCode] = kind.description
        attributes[.warningDescription] = message
        attributes[.warningURL] = url
        attributes[.presentationWait] = wait
        return attributes
    }
}
