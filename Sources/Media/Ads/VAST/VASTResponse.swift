/// A response of an ad server (IAB VAST 2.0 to 4.2).
///
/// ```swift
/// let response = try VASTResponse(parsing: bytes)
/// for finding in response.findings { print(finding) }
/// ```
/// A value without clock or network; `init` takes time in proportion to the response's size. Wrappers are not followed:
/// ``AdResolver`` does that.
public struct VASTResponse: Hashable, Sendable {
    /// The version that the response declares.
    public var version: VASTVersion
    /// The ads in document order.
    public var ads: [VASTAd] = []
    /// The addresses to call if the response has no ad (`VAST/Error`).
    public var errors: [AdURL] = []
    /// Defects of the response.
    public var findings: [AdFinding] = []
}

/// An ad of a response (VAST 4.2, section 3.3).
public struct VASTAd: Hashable, Sendable {
    /// The content of an ad: complete, or a reference to another response.
    public enum Kind: Hashable, Sendable {
        /// The ad itself.
        case inLine(InLine)
        /// A reference to another response.
        case wrapper(Wrapper)
    }

    /// The fields that only an `InLine` ad has.
    public struct InLine: Hashable, Sendable {
        /// `AdTitle`.
        public var title: String?
        /// `AdServingId` (4.1).
        public var adServingID: String?
        /// `Advertiser`.
        public var advertiser: String?
        /// `Description`.
        public var description: String?
        /// The values of `Category`.
        public var categories: [String] = []
        /// `Expires`: the seconds after the response for which the ad is valid; nil without a limit.
        public var expires: Int?
    }

    /// The fields that only a `Wrapper` has.
    public struct Wrapper: Hashable, Sendable {
        /// `VASTAdTagURI`.
        public var tag: AdURL
        /// `followAdditionalWrappers`.
        public var followsWrappers: Bool
        /// `allowMultipleAds`.
        public var allowsMultipleAds: Bool
        /// `fallbackOnNoAd`; nil if the attribute is absent.
        public var fallsBack: Bool?
        /// The values of `BlockedAdCategories`.
        public var blockedCategories: [String] = []
    }

    /// `id`.
    public var id: String?
    /// `sequence`: the position in the pod; nil for a stand-alone ad.
    public var sequence: Int?
    /// `adType`: `video`, `audio` or `hybrid`.
    public var type: String
    /// The content of the ad.
    public var kind: Kind
    /// `AdSystem`.
    public var system: String?
    /// The addresses of `Impression`.
    public var impressions: [AdURL] = []
    /// The addresses of `Error`.
    public var errors: [AdURL] = []
    /// The addresses of `ViewableImpression`.
    public var viewability = Viewability()
    /// The verification scripts.
    public var verifications: [Verification] = []
    /// The creatives.
    public var creatives: [Creative] = []
    /// The types of the extensions.
    public var extensionTypes: [String] = []

    /// The fields of an ad that is complete; nil for a wrapper.
    public var inLine: InLine? { if case .inLine(let value) = kind { value } else { nil } }
    /// The fields of a wrapper; nil for an ad that is complete.
    public var wrapper: Wrapper? { if case .wrapper(let value) = kind { value } else { nil } }
}

extension VASTAd {
    /// The addresses of `ViewableImpression` (VAST 4.2, section 3.5).
    public struct Viewability: Hashable, Sendable {
        /// `Viewable`.
        public var viewable: [AdURL] = []
        /// `NotViewable`.
        public var notViewable: [AdURL] = []
        /// `ViewUndetermined`.
        public var undetermined: [AdURL] = []
    }

    /// A verification script (VAST 4.2, section 3.17). This project executes none: `verificationNotExecuted` is
    /// reported.
    public struct Verification: Hashable, Sendable {
        /// `vendor`.
        public var vendor: String?
        /// The addresses of the event `verificationNotExecuted`.
        public var notExecuted: [AdURL] = []
    }
}
