/// A response of an ad server (IAB VAST 2.0 to 4.2).
/// A value without clock or network; `init` takes time in proportion to the response's size. Wrappers are not followed:
/// ``AdResolver`` does that.
package struct VASTResponse: Hashable, Sendable {
    /// The version that the response declares.
    package var version: VASTVersion
    /// The ads in document order.
    package var ads: [VASTAd] = []
    /// The ads that the response declares so that no player can use them.
    package var refused: [RefusedAd] = []
    /// The addresses to call if the response has no ad (`VAST/Error`).
    package var errors: [AdURL] = []
    /// Defects of the response.
    package var findings: [AdFinding] = []
}

/// An ad of a response that no player can use. Its own addresses of `Error` are called (VAST 4.2, section 2.3.6).
package struct RefusedAd: Hashable, Sendable {
    /// `sequence`: the position in the pod; nil for a stand-alone ad.
    package var sequence: Int?
    /// The reason.
    package var message: String
    /// The addresses of `Error`.
    package var errors: [AdURL]
}

/// An ad of a response (VAST 4.2, section 3.3).
public struct VASTAd: Hashable, Sendable {
    /// The content of an ad: complete, or a reference to another response.
    package enum Kind: Hashable, Sendable {
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
        package var adServingID: String?
        /// `Advertiser`.
        public var advertiser: String?
        /// `Description`.
        public var description: String?
        /// The values of `Category`.
        package var categories: [String] = []
        /// `Expires`: the seconds after the response for which the ad is valid; nil without a limit.
        package var expires: Int?
    }

    /// The fields that only a `Wrapper` has.
    package struct Wrapper: Hashable, Sendable {
        /// `VASTAdTagURI`.
        package var tag: AdURL
        /// `followAdditionalWrappers`.
        package var followsWrappers: Bool
        /// `allowMultipleAds`.
        package var allowsMultipleAds: Bool
        /// `fallbackOnNoAd`; nil if the attribute is absent.
        package var fallsBack: Bool?
        /// The values of `BlockedAdCategories`.
        package var blockedCategories: [String] = []
    }

    /// `id`.
    public var id: String?
    /// `sequence`: the position in the pod; nil for a stand-alone ad.
    package var sequence: Int?
    /// `adType`: `video`, `audio` or `hybrid`.
    public var type: String
    /// The content of the ad.
    package var kind: Kind
    /// `AdSystem`.
    public var system: String?
    /// The addresses of `Impression`.
    package var impressions: [AdURL] = []
    /// The addresses of `Error`.
    package var errors: [AdURL] = []
    /// The addresses of `ViewableImpression`.
    package var viewability = Viewability()
    /// The verification scripts.
    package var verifications: [Verification] = []
    /// The creatives.
    package var creatives: [Creative] = []
    /// The types of the extensions.
    package var extensionTypes: [String] = []

    /// The fields of an ad that is complete; nil for a wrapper.
    public var inLine: InLine? { if case .inLine(let value) = kind { value } else { nil } }
    /// The fields of a wrapper; nil for an ad that is complete.
    package var wrapper: Wrapper? { if case .wrapper(let value) = kind { value } else { nil } }
}

extension VASTAd {
    /// The addresses of `ViewableImpression` (VAST 4.2, section 3.5).
    package struct Viewability: Hashable, Sendable {
        /// `Viewable`.
        package var viewable: [AdURL] = []
        /// `NotViewable`.
        package var notViewable: [AdURL] = []
        /// `ViewUndetermined`.
        package var undetermined: [AdURL] = []
    }

    /// A verification script (VAST 4.2, section 3.17). This project executes none: `verificationNotExecuted` is
    /// reported.
    package struct Verification: Hashable, Sendable {
        /// `vendor`.
        package var vendor: String?
        /// The addresses of the event `verificationNotExecuted`.
        package var notExecuted: [AdURL] = []
    }
}
