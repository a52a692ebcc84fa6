/// A creative of an ad (VAST 4.2, section 3.7).
public struct Creative: Hashable, Sendable {
    /// The form of a creative.
    public enum Kind: Hashable, Sendable {
        /// Media in place of the content.
        case linear(LinearCreative)
        /// Images or documents over the content, and their events.
        case nonLinear(NonLinearCreative)
        /// Images or documents beside the player.
        case companions([Companion])
    }

    /// An identifier of a creative in a registry.
    public struct UniversalAdID: Hashable, Sendable {
        /// `idRegistry`.
        public var registry: String
        /// The identifier.
        public var value: String
    }

    /// `id`.
    public var id: String?
    /// `adId`.
    public var adID: String?
    /// `sequence`.
    public var sequence: Int?
    /// The identifiers of `UniversalAdId` (4.0).
    public var universalIDs: [UniversalAdID] = []
    /// The form.
    public var kind: Kind

    /// The linear creative; nil for other forms.
    public var linear: LinearCreative? { if case .linear(let value) = kind { value } else { nil } }
    /// The non-linear creative; nil for other forms.
    public var nonLinear: NonLinearCreative? { if case .nonLinear(let value) = kind { value } else { nil } }
    /// The companions; empty for other forms.
    public var companions: [Companion] { if case .companions(let value) = kind { value } else { [] } }
}

/// A linear creative (VAST 4.2, section 3.8).
public struct LinearCreative: Hashable, Sendable {
    /// `Duration` in nanoseconds; nil in a wrapper, or if malformed.
    public var duration: Int64?
    /// `skipoffset`: from here on the person may skip the ad; nil if the ad cannot be skipped.
    public var skipOffset: AdOffset?
    /// The tracking events.
    public var events: [TrackingEvent] = []
    /// The media files.
    public var mediaFiles: [MediaFile] = []
    /// The address that opens on a click.
    public var clickThrough: AdURL?
    /// The addresses to call on a click.
    public var clickTracking: [AdURL] = []
    /// The addresses to call on a click on something else than the ad as a whole (`CustomClick`).
    public var customClicks: [AdURL] = []
    /// The icons over the ad, such as AdChoices.
    public var icons: [AdIcon] = []
}

/// An icon over a linear creative (VAST 4.2, section 3.11).
public struct AdIcon: Hashable, Sendable {
    /// `program`: the programme to which the icon belongs.
    public var program: String?
    /// `width` in pixels.
    public var width: Int?
    /// `height` in pixels.
    public var height: Int?
    /// `offset` in nanoseconds: the position in the ad from which the icon is shown.
    public var offset: Int64?
    /// `duration` in nanoseconds; nil shows the icon to the end.
    public var duration: Int64?
    /// The resources.
    public var resources: [CreativeResource] = []
    /// The address that opens on a click.
    public var clickThrough: AdURL?
    /// The addresses to call on a click (`IconClickTracking`).
    public var clickTracking: [AdURL] = []
    /// The addresses to call when the icon is shown (`IconViewTracking`).
    public var viewTracking: [AdURL] = []
}

/// A media file of a linear creative (VAST 4.2, section 3.9.1).
public struct MediaFile: Hashable, Sendable {
    /// The way in which media is delivered.
    public enum Delivery: String, Hashable, Sendable {
        /// A whole file.
        case progressive
        /// A stream: HLS or DASH.
        case streaming
    }

    /// The address.
    public var url: AdURL
    /// `delivery`.
    public var delivery: Delivery
    /// `type`: the MIME type.
    public var type: String
    /// `width` in pixels; nil if absent.
    public var width: Int?
    /// `height` in pixels; nil if absent.
    public var height: Int?
    /// `bitrate` in kbit/s; nil if absent.
    public var bitrate: Int?
    /// `maxBitrate` in kbit/s; nil if absent.
    public var maxBitrate: Int?
    /// `codec`; nil if absent.
    public var codec: String?
    /// `apiFramework`; a file with a framework is a program and no media.
    public var apiFramework: String?
}

/// Non-linear creatives of an ad (VAST 4.2, section 3.12).
public struct NonLinearCreative: Hashable, Sendable {
    /// One image or document.
    public struct Variant: Hashable, Sendable {
        /// `width` in pixels.
        public var width: Int?
        /// `height` in pixels.
        public var height: Int?
        /// `minSuggestedDuration` in nanoseconds.
        public var minimumDuration: Int64?
        /// The resource; nil if it has none.
        public var resource: CreativeResource?
        /// The address that opens on a click.
        public var clickThrough: AdURL?
        /// The addresses to call on a click.
        public var clickTracking: [AdURL] = []
    }

    /// The images and documents.
    public var variants: [Variant] = []
    /// The tracking events.
    public var events: [TrackingEvent] = []
}

/// A companion of an ad (VAST 4.2, section 3.13).
public struct Companion: Hashable, Sendable {
    /// `id`.
    public var id: String?
    /// `width` in pixels.
    public var width: Int?
    /// `height` in pixels.
    public var height: Int?
    /// The resources.
    public var resources: [CreativeResource] = []
    /// The address that opens on a click.
    public var clickThrough: AdURL?
    /// The addresses to call on a click.
    public var clickTracking: [AdURL] = []
    /// The tracking events; only `creativeView` is defined.
    public var events: [TrackingEvent] = []
}

/// A resource of a non-linear creative or a companion (VAST 4.2, section 3.15).
public enum CreativeResource: Hashable, Sendable {
    /// An image, with its MIME type if known.
    case `static`(AdURL, type: String?)
    /// A document for a frame.
    case frame(AdURL)
    /// The number of bytes of HTML in the response.
    case html(byteCount: Int)
}
