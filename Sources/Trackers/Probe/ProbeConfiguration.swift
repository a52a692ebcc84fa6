public import Instrument
public import InstrumentHTTP

/// How a probe plays.
public struct ProbeConfiguration: Hashable, Sendable {
    /// The title, sent as `title`; nil takes the media's own title, else its file name.
    public var title: String?
    /// The behaviour of the player: its buffer, its choice of renditions, its retries.
    public var profile: PlayerProfile
    /// The preferred audio language (BCP 47, for example `en` or `en-GB`), where a stream offers several.
    public var language: String?
    /// The subtitles to fetch beside video and audio.
    public var subtitles: SubtitleSelection
    /// The address of a licence server for streams with encrypted samples (`SAMPLE-AES`, Common Encryption); nil, the
    /// default, asks for no licence.
    ///
    /// The probe decrypts nothing: it measures what the licence costs. Once in a playback it sends a POST request whose
    /// body is the `pssh` boxes of the first encrypted track's initialization section, without these what `EXT-X-KEY`
    /// has for a licence server (`SegmentEncryption.licenceData`: the only source for transport streams), else the
    /// section's default key identifier (ISO/IEC 23001-7), or nothing. A real challenge comes from a decryption module
    /// and is signed, so a server that verifies challenges refuses this one. Encrypted media is playable once a licence
    /// has arrived; a licence that fails after the profile's retries is a ``ProbeError``, as in a real player. The
    /// address may contain secrets: logs and errors show it without credentials and query.
    public var licenceURL: HTTPURL?
    /// The limits for streams.
    public var limits: StreamLimits
    /// The start position, from the start of the media; at most the media's end.
    public var startPosition: Duration
    /// The number of playbacks of the source, unless one fails; nil repeats the source until the probe is stopped.
    /// Each repetition is a new playback.
    public var playCount: Int?
    /// Whether the probe fetches private addresses, which only this machine or its network can reach: the source
    /// itself, resources that playlists name, and targets of redirects. Forbid them for sources from untrusted users.
    /// The probe then refuses all progressive media at HTTP addresses, because libavformat, which fetches such media,
    /// cannot distinguish private addresses; files are played. On Apple platforms streams fail, too, because the
    /// transport cannot distinguish them either.
    public var allowsPrivateAddresses: Bool
    /// Whether streams are requested over HTTP/3 where the server offers it, and over an earlier version elsewhere; the
    /// request log has the version. A transport without HTTP/3 (`TransportConfiguration.supportsHTTP3`) ends the
    /// playback with an error. Progressive media is fetched by libavformat, which has no HTTP/3.
    public var usesHTTP3: Bool
    /// The `User-Agent` of all requests: for playlists, segments, progressive media, ads and licences.
    public var userAgent: String
    /// Which requests of streams carry Common Media Client Data, and how; nil, the default, for none.
    public var requestReporting: RequestReporting?
    /// Whether each request of a stream is reported with a separate event, `RequestFinish`. The attributes are those of
    /// `InstrumentQuality`: `requestKind`, `requestBytes`, `requestTime`, `timeToFirstByte` and `requestFailed`.
    /// Without these events, metrics of requests know only the sums that every event carries.
    public var reportsRequests: Bool
    /// The ads that interrupt the content; nil, the default, for none.
    public var ads: AdConfiguration?
    /// The limit for opening and inspecting progressive media.
    public var openTimeout: Duration
    /// The limit for each wait for more data, unless the profile has its own.
    public var readTimeout: Duration

    /// The headers that every request of a stream has, and progressive media at the source's address.
    package var headers = HTTPHeaders()
    /// Whether each playback keeps the cookies of its servers until it ends, as a browser does.
    package var keepsCookies = false
    /// Whether requests use the proxy of the environment (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`).
    package var usesEnvironmentProxy = false
    /// The address of a proxy for all requests, which may contain a password; nil for none.
    package var proxyAddress: String?

    /// The media to buffer before playback starts or resumes; a part of the profile.
    public var buffer: BufferPolicy {
        get { profile.buffer }
        set { profile.buffer = newValue }
    }

    /// Creates a configuration; by default the standard profile, 15 s to open and 15 s for each read.
    public init(
        title: String? = nil,
        profile: PlayerProfile = .standard,
        language: String? = nil,
        subtitles: SubtitleSelection = .declared,
        licenceURL: HTTPURL? = nil,
        limits: StreamLimits = StreamLimits(),
        startPosition: Duration = .zero,
        playCount: Int? = 1,
        allowsPrivateAddresses: Bool = true,
        usesHTTP3: Bool = false,
        userAgent: String = InstrumentVersion.userAgent(),
        requestReporting: RequestReporting? = nil,
        reportsRequests: Bool = false,
        ads: AdConfiguration? = nil,
        openTimeout: Duration = .seconds(15),
        readTimeout: Duration = .seconds(15)
    ) {
        self.title = title
        self.profile = profile
        self.language = language
        self.subtitles = subtitles
        self.licenceURL = licenceURL
        self.limits = limits
        self.startPosition = max(.zero, startPosition)
        self.playCount = playCount.map { max(1, $0) }
        self.allowsPrivateAddresses = allowsPrivateAddresses
        self.usesHTTP3 = usesHTTP3
        self.userAgent = userAgent
        self.requestReporting = requestReporting
        self.reportsRequests = reportsRequests
        self.ads = ads
        self.openTimeout = openTimeout
        self.readTimeout = readTimeout
    }
}

/// How a playback ended.
public enum ProbeOutcome: Hashable, Sendable {
    /// It reached its end.
    case ended
    /// It failed.
    case failed(ProbeError)
    /// The app stopped the playback.
    case stopped
}

/// The state and the position of a playback, for display.
public struct ProbeProgress: Hashable, Sendable {
    /// The state of a player.
    public enum State: String, Hashable, Sendable {
        /// Playback was not requested yet.
        case idle
        /// Waits for its first media.
        case loading
        /// Plays.
        case playing
        /// Was paused.
        case paused
        /// Waits for media in the middle of playback.
        case stalled
        /// Waits for media after a seek.
        case seeking
        /// Is over.
        case finished
    }

    /// The state of the player.
    public var state: State
    /// The position of the playhead.
    public var position: Duration
    /// The duration of the media; nil where it is unknown.
    public var duration: Duration?
    /// The media that is buffered ahead of the playhead.
    public var buffered: Duration
}
