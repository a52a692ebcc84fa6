/// An ad that can be played: an `InLine` ad, with the events of the wrappers that led to it.
public struct ResolvedAd: Hashable, Sendable {
    /// The `InLine` ad. Its impressions, errors and events are those of the ad alone; use the properties of this value.
    public var ad: VASTAd
    /// The wrappers, the outermost first.
    package var wrappers: [VASTAd]
    /// The version of the response with the `InLine` ad.
    package var version: VASTVersion
    /// The position in the pod; nil for a stand-alone ad.
    public var sequence: Int?

    /// The addresses of `Error` at the root of the responses that led to the ad.
    package var rootErrors: [AdURL] = []

    private var chain: [VASTAd] { wrappers + [ad] }

    /// The addresses of all impressions, those of the outermost wrapper first.
    package var impressions: [AdURL] { chain.flatMap(\.impressions) }
    /// The addresses of all errors: those of the responses' roots, then those of the chain, the outermost wrapper
    /// first.
    package var errors: [AdURL] { rootErrors + chain.flatMap(\.errors) }
    /// The addresses of all viewability events.
    package var viewability: VASTAd.Viewability {
        VASTAd.Viewability(
            viewable: chain.flatMap(\.viewability.viewable),
            notViewable: chain.flatMap(\.viewability.notViewable),
            undetermined: chain.flatMap(\.viewability.undetermined)
        )
    }
    /// The verification scripts of the chain.
    package var verifications: [VASTAd.Verification] { chain.flatMap(\.verifications) }

    /// The creative with the media, with the events and clicks of the wrappers; nil for an ad without linear creative.
    ///
    /// The `ClickThrough` nearest to the `InLine` ad wins (VAST 4.2, section 2.3.5).
    public var linear: LinearCreative? {
        guard var linear = ad.creatives.lazy.compactMap(\.linear).first else { return nil }
        let outer = wrappers.map { wrapper in wrapper.creatives.compactMap(\.linear) }
        linear.events = outer.joined().flatMap { $0.events } + linear.events
        linear.clickTracking = outer.joined().flatMap { $0.clickTracking } + linear.clickTracking
        linear.customClicks = outer.joined().flatMap { $0.customClicks } + linear.customClicks
        linear.icons = outer.joined().flatMap { $0.icons } + linear.icons
        let clicks = outer.joined().compactMap { $0.clickThrough }
        linear.clickThrough = linear.clickThrough ?? clicks.last
        return linear
    }

    /// The types of all extensions, those of the outermost wrapper first.
    package var extensionTypes: [String] { chain.flatMap(\.extensionTypes) }

    /// The non-linear creatives of the ad, with the events and clicks of the wrappers; nil if the ad has none.
    package var nonLinear: NonLinearCreative? {
        let all = chain.map { ad in ad.creatives.compactMap(\.nonLinear) }
        guard let own = all.last, !own.isEmpty else { return nil }
        let outerClicks = all.dropLast().joined().flatMap { $0.variants.flatMap(\.clickTracking) }
        let variants = own.flatMap(\.variants).map { variant in
            var merged = variant
            merged.clickTracking = outerClicks + variant.clickTracking
            return merged
        }
        return NonLinearCreative(variants: variants, events: all.joined().flatMap { $0.events })
    }

    /// The companions nearest to the `InLine` ad: its own, else those of the innermost wrapper that has some.
    package var companions: [Companion] {
        for ad in chain.reversed() {
            let companions = ad.creatives.flatMap(\.companions)
            if !companions.isEmpty { return companions }
        }
        return []
    }

    /// Whether the category of the ad is one that a wrapper blocks (error 205).
    public var isBlocked: Bool {
        let blocked = Set(wrappers.flatMap { $0.wrapper?.blockedCategories ?? [] })
        return ad.inLine.map { !blocked.isDisjoint(with: $0.categories) } ?? false
    }

    /// Why a player with a profile plays nothing of the ad in a linear break, as the finding of a validation; nil if it
    /// plays.
    package func refusal(by profile: MediaProfile) -> AdFinding? {
        guard let linear else {
            return AdFinding(
                .warning,
                rule: "VAST 4.2, section 3.7",
                code: VASTErrorCode.linearity.rawValue,
                path: "VAST/Ad/InLine/Creatives/Creative",
                message: "the ad has no `Linear` creative: a player refuses it in a linear break"
            )
        }
        guard linear.mediaFile(for: profile) == nil else { return nil }
        let files = linear.mediaFiles.map { file in
            if !file.url.isOfServer { return "a file whose address is not http or https" }
            let type = file.type.isEmpty ? "a file without a type" : "`\(file.type.prefix(60))`"
            return type + (file.apiFramework.map { " with the API framework \($0.prefix(40))" } ?? "")
        }
        let found = files.isEmpty ? "none" : Set(files).sorted().prefix(5).joined(separator: ", ")
        return AdFinding(
            .error,
            rule: "VAST 4.2, section 3.9.1",
            code: VASTErrorCode.noSupportedFile.rawValue,
            path: "VAST/Ad/InLine/Creatives/Creative/Linear/MediaFiles/MediaFile",
            message: "no media file can be played (found \(found)); add a file of a type that players support, such as "
                + "`video/mp4` or `application/x-mpegURL`"
        )
    }

    /// The values of the macros that describe the ad.
    package func macros(media: MediaFile?) -> MacroValues {
        var values = MacroValues()
        values.set("ADTYPE", ad.type)
        values.set("ADSERVINGID", ad.inLine?.adServingID)
        values.set("PODSEQUENCE", sequence.map(String.init))
        values.set("ASSETURI", media?.url.secretText)
        let creative = ad.creatives.first { $0.linear != nil } ?? ad.creatives.first
        let identifiers = (creative?.universalIDs ?? []).map { $0.registry + " " + $0.value }
        if !identifiers.isEmpty { values["UNIVERSALADID"] = .list(identifiers) }
        return values
    }
}

/// A failed ad: the addresses of `Error` to call, and the code to fill in.
public struct AdFailure: Hashable, Sendable {
    /// The code for `[ERRORCODE]`.
    public var code: VASTErrorCode
    /// The findings; without secrets.
    public var message: String
    /// The addresses.
    package var urls: [AdURL]

    /// Creates a failure.
    package init(_ code: VASTErrorCode, _ message: String, urls: [AdURL]) {
        (self.code, self.message, self.urls) = (code, message, urls)
    }
}

/// The ads for one break: a pod in order, the stand-alone ads that may replace ads of the pod, and what failed.
public struct AdSelection: Hashable, Sendable {
    /// The ads to play, in order: the pod, or the first stand-alone ad.
    public var ads: [ResolvedAd] = []
    /// The stand-alone ads that were not chosen; each may replace one ad that fails.
    public var fallbacks: [ResolvedAd] = []
    /// The ads that failed to resolve.
    public var failures: [AdFailure] = []
    /// Defects of all responses, in the order in which the responses came.
    public var findings: [AdFinding] = []
    /// The number of responses that were fetched.
    package var fetchCount = 0

    /// Creates an empty selection.
    package init() {}

    /// Creates the selection of resolved ads in document order.
    init(_ resolved: [ResolvedAd], failures: [AdFailure], lacking: Int) {
        self.failures = failures
        let alone = resolved.filter { $0.sequence == nil }
        let pod = resolved.enumerated().filter { $0.element.sequence != nil }
            .sorted { ($0.element.sequence ?? 0, $0.offset) < ($1.element.sequence ?? 0, $1.offset) }.map(\.element)
        // An ad of the pod that failed, and allows a fallback, is replaced by a stand-alone ad.
        let substitutes = pod.isEmpty ? min(1, alone.count) : min(lacking, alone.count)
        ads = pod + alone.prefix(substitutes)
        fallbacks = Array(alone.dropFirst(substitutes))
    }
}
