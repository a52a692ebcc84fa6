public import Instrument
public import InstrumentAds

/// Which ads a probe plays, and how long it waits for them.
///
/// ```swift
/// var configuration = ProbeConfiguration()
/// configuration.ads = AdConfiguration(tag: AdURL("https://ads.example/vmap.xml"))
/// ```
public struct AdConfiguration: Hashable, Sendable {
    /// The address of a VAST or VMAP document, with macros; nil plays only the ads that the stream itself names.
    public var tag: AdURL?
    /// Whether interstitials of HLS and alternative presentations of DASH play.
    public var playsInterstitials: Bool
    /// The values of macros in the addresses of documents, of media and of beacons.
    public var macros: MacroValues
    /// The rules for macros that may identify a person: they are withheld from ad servers unless the rules choose their
    /// field, for example `adMacroIFA`.
    public var privacy: PrivacyRules
    /// The media files of ads that can be played.
    public var media: MediaProfile
    /// The limits of documents, and of the time to fetch them.
    public var limits: AdLimits
    /// The time within which an ad must show its first frame, and within which a stalled ad must continue. After that,
    /// the ad fails with the code 402.
    public var startTimeout: Duration
    /// The longest time for which one ad plays, whatever its media says.
    public var longestAd: Duration
    /// How long before a break its ads are requested.
    public var requestLead: Duration

    /// Creates a configuration; by default 10 s for an ad to start, and 10 minutes for an ad to play.
    public init(
        tag: AdURL? = nil,
        playsInterstitials: Bool = true,
        macros: MacroValues = MacroValues(),
        privacy: PrivacyRules = PrivacyRules(),
        media: MediaProfile = MediaProfile(),
        limits: AdLimits = AdLimits(),
        startTimeout: Duration = .seconds(10),
        longestAd: Duration = .seconds(600),
        requestLead: Duration = .seconds(10)
    ) {
        (self.tag, self.playsInterstitials, self.macros, self.media) = (tag, playsInterstitials, macros, media)
        self.privacy = privacy
        (self.limits, self.startTimeout) = (limits, max(.milliseconds(1), startTimeout))
        self.longestAd = max(.milliseconds(1), longestAd)
        self.requestLead = max(.zero, requestLead)
    }

    /// The macros that ad servers may receive.
    var permittedMacros: MacroValues { privacy.permitted(macros) }
}
