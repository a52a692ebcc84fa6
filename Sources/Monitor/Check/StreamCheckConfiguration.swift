package import InstrumentHTTP
public import InstrumentRules

/// The extent and the duration of a stream's check.
public struct StreamCheckConfiguration: Sendable {
    /// The rules to apply.
    public var rules = Rule.all
    /// The duration for which live playlists are reloaded; zero fetches each playlist once.
    public var duration = Duration.seconds(30)
    /// The number of segments of each rendition that are fetched at the start and after each reload; 0 fetches none.
    public var segmentCount = 0
    /// The time limit of each request, redirects included.
    public var timeout = Duration.seconds(15)
    /// The largest playlist or manifest, in bytes.
    public var maxManifestBytes = 16 << 20
    /// The largest segment, in bytes.
    public var maxSegmentBytes = 64 << 20
    /// The number of renditions that are checked; the others are counted in the report.
    public var maxRenditions = 32
    /// The largest number of concurrent requests.
    public var maxRequests = 4
    /// The checks of pictures and sound; nil decodes nothing. Needs segments.
    public var mediaChecks: MediaCheckConfiguration?

    /// The headers of all requests; secret ones go to the origin of the stream's address alone.
    package var headers = HTTPHeaders()
    /// Whether the check keeps the cookies of its servers until it ends, as a browser does.
    package var keepsCookies = false

    /// Whether segments are fetched of the renditions only that ``mediaChecks`` decodes: the lowest with pictures, and
    /// the sound that plays beside it.
    public var fetchesOnlyDecodedRenditions = false

    /// Creates the defaults: all rules, 30 s, no segments.
    public init() {}
}

/// The result of a check.
public struct StreamCheckReport: Sendable {
    /// The address without user, password, query and fragment.
    public var url: String
    /// `HLS`, `DASH`, or nil if the address is neither.
    public var format: String?
    /// The broken rules, in the order of their discovery.
    public var findings: [Finding] = []
    /// The number of observations that broke a rule at a further resource, after the rule had too many findings.
    public var omittedFindings = 0
    /// The number of playlists and manifests that were fetched, reloads included.
    public var playlistCount = 0
    /// The number of segments that were fetched.
    public var segmentCount = 0
    /// The number of bytes of the segments.
    public var segmentBytes = 0
    /// The number of renditions that were checked.
    public var renditionCount = 0
    /// The number of renditions that were left out because there were too many.
    public var skippedRenditionCount = 0
    /// The findings in pictures and sound.
    public var media: [MediaFinding] = []
    /// The short-term loudness of the sound that was decoded; nil without a check of loudness.
    public var loudness: LoudnessSummary?

    /// Creates an empty report.
    public init(url: String) { self.url = url }

    /// Whether an error was found, or (with `isStrict`) a warning.
    public func isFailed(isStrict: Bool) -> Bool {
        findings.contains { isStrict || $0.severity == .error }
            || !media.isEmpty
    }
}
