public import Instrument
internal import InstrumentTransport

extension Action {
    /// A stream has something odd about it that playback survives (``StreamWarning``).
    public static let streamWarning = Action("StreamWarning")
}

/// What is odd about a stream though it plays: what a viewer may notice, and what its makers want to know.
public struct StreamWarning: Hashable, Sendable {
    /// What a warning is about. The set is open: later versions may report further kinds, and an app or a test may make its
    /// own, so a `switch` over kinds needs a `default`.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind as a short text, which the `warningCode` attribute carries.
        public let description: String

        /// Creates a kind; kinds with the same text are equal.
        ///
        /// - Parameter description: a short text in lower camel case.
        public init(_ description: String) { self.description = description }

        /// Timestamps step where they should go on.
        public static let timestampJump = Kind("timestampJump")
        /// A segment does not begin with a keyframe: nothing can be shown at its start after a switch or a jump.
        public static let noKeyframe = Kind("noKeyframe")
        /// Sound and picture of a segment begin or end far apart.
        public static let tracksApart = Kind("tracksApart")
        /// A segment plays longer or shorter than its playlist says.
        public static let wrongDuration = Kind("wrongDuration")
        /// A segment has more bits than its variant declares.
        public static let wrongBitrate = Kind("wrongBitrate")
        /// A picture has another size than its variant declares.
        public static let wrongResolution = Kind("wrongResolution")
        /// Frames are missing within a segment.
        public static let frameGap = Kind("frameGap")
        /// A segment is missing: declared as a gap, or given up.
        public static let missingSegment = Kind("missingSegment")
        /// A live playlist comes late or does not change in time.
        public static let latePlaylist = Kind("latePlaylist")
        /// Segments went out of the live window before they were fetched.
        public static let expiredSegments = Kind("expiredSegments")
        /// A server sends all of a file where a part was asked for.
        public static let rangeIgnored = Kind("rangeIgnored")
        /// The manifest has something that the probe does not do, and plays without.
        public static let notSupported = Kind("notSupported")
    }

    /// What it is about.
    public let kind: Kind
    /// What was seen, for people.
    public let message: String
    /// The address that it is about, without credentials and query.
    public let url: String?

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
        return attributes
    }
}
