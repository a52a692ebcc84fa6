package import InstrumentHTTP
package import InstrumentRules

/// The extent and the duration of a stream's check.
package struct StreamCheckConfiguration: Sendable {
    /// The rules to apply.
    package var rules = Rule.all
    /// The duration for which live playlists are reloaded; zero fetches each playlist once.
    package var duration = Duration.seconds(30)
    /// The number of segments of each rendition that are fetched at the start and after each reload; 0 fetches none.
    package var segmentCount = 0
    /// The time limit of each request, redirects included.
    package var timeout = Duration.seconds(15)
    /// The largest playlist or manifest, in bytes.
    package var maxManifestBytes = 16 << 20
    /// The largest segment, in bytes.
    package var maxSegmentBytes = 64 << 20
    /// The number of renditions that are checked; the others are counted in the report.
    package var maxRenditions = 32
    /// The largest number of concurrent requests.
    package var maxRequests = 4
    /// The checks of pictures and sound; nil decodes nothing. Needs segments.
    package var mediaChecks: MediaCheckConfiguration?

    /// The headers of all requests; secret ones go to the origin of the stream's address alone.
    package var headers = HTTPHeaders()
    /// Whether the check keeps the cookies of its servers until it ends, as a browser does.
    package var keepsCookies = false

    /// Whether rounds have evidence of the faults that begin: pictures, playlists, the first bytes of segments.
    package var keepsEvidence = false

    /// Whether segments are fetched of the renditions only that ``mediaChecks`` decodes: the lowest with pictures, and
    /// the sound that plays beside it.
    package var fetchesOnlyDecodedRenditions = false

    /// Creates the defaults: all rules, 30 s, no segments.
    package init() {}
}

/// The result of a check.
package struct StreamCheckReport: Sendable {
    /// The address without user, password, query and fragment.
    package var url: String
    /// `HLS`, `DASH`, or nil if the address is neither.
    package var format: String?
    /// The broken rules, in the order of their discovery.
    package var findings: [Finding] = []
    /// The number of observations that broke a rule at a further resource, after the rule had too many findings.
    package var omittedFindings = 0
    /// The number of playlists and manifests that were fetched, reloads included.
    package var playlistCount = 0
    /// The number of segments that were fetched.
    package var segmentCount = 0
    /// The number of segments whose content was read: demuxed, or parsed as subtitles, and decrypted before that.
    package var readSegmentCount = 0
    /// The number of bytes of the segments.
    package var segmentBytes = 0
    /// The number of renditions that were checked, without those of keyframes alone.
    package var renditionCount = 0
    /// The number of renditions of keyframes alone that were checked, for fast forward and rewind.
    package var keyframeRenditionCount = 0
    /// The number of renditions that were left out because there were too many.
    package var skippedRenditionCount = 0
    /// The stream as the check understood it; nil where nothing could be read.
    package var stream: StreamDescription?
    /// The reason for which nothing of the media could be checked; nil if something was.
    package var emptiness: String?
    /// The rules that were applied to nothing, because nothing of the kind that they judge was observed: rules on
    /// segments without segments, rules of the other format.
    package var unappliedRules: [Rule.ID] = []
    /// The methods of encrypted segments that were fetched and cannot be decrypted.
    var unreadEncryptions: Set<String> = []
    /// The findings in pictures and sound.
    package var media: [MediaFinding] = []
    /// The short-term loudness of the sound that was decoded; nil without a check of loudness.
    package var loudness: LoudnessSummary?

    /// Creates an empty report.
    package init(url: String) { self.url = url }

    /// The result of a check in one word.
    package enum Outcome: String, Hashable, Sendable, CaseIterable {
        /// Media was checked, and no rule is broken.
        case sound
        /// Media was checked, and a rule is broken, or an interval of pictures or sound was found.
        case findings
        /// Nothing of the media could be checked (`emptiness`): no stream, no segment that is
        /// available now, no segment that could be read. There may be findings that say why.
        case nothing
    }

    /// The result in one word.
    package var outcome: Outcome {
        if emptiness != nil { return .nothing }
        return findings.isEmpty && media.isEmpty ? .sound : .findings
    }

    /// Whether an error was found, or (with `isStrict`) a warning, or nothing could be checked.
    package func isFailed(isStrict: Bool) -> Bool {
        findings.contains { isStrict || $0.severity == .error } || !media.isEmpty || emptiness != nil
    }
}
