/// A creative of an ad (VAST 4.2, section 3.7).
package struct Creative: Hashable, Sendable {
    /// The form of a creative.
    package enum Kind: Hashable, Sendable {
        /// Media in place of the content.
        case linear(LinearCreative)
        /// Images or documents over the content, and their events.
        case nonLinear(NonLinearCreative)
        /// Images or documents beside the player.
        case companions([Companion])
    }

    /// An identifier of a creative in a registry.
    package struct UniversalAdID: Hashable, Sendable {
        /// `idRegistry`.
        package var registry: String
        /// The identifier.
        package var value: String
    }

    /// `id`.
    package var id: String?
    /// `adId`.
    package var adID: String?
    /// `sequence`.
    package var sequence: Int?
    /// The identifiers of `UniversalAdId` (4.0).
    package var universalIDs: [UniversalAdID] = []
    /// The form.
    package var kind: Kind

    /// The linear creative; nil for other forms.
    package var linear: LinearCreative? { if case .linear(let value) = kind { value } else { nil } }
    /// The non-linear creative; nil for other forms.
    package var nonLinear: NonLinearCreative? { if case .nonLinear(let value) = kind { value } else { nil } }
    /// The companions; empty for other forms.
    package var companions: [Companion] { if case .companions(let value) = kind { value } else { [] } }
}

/// A linear creative (VAST 4.2, section 3.8).
public struct LinearCreative: Hashable, Sendable {
    /// `Duration` in nanoseconds; nil in a wrapper, or if malformed.
    public var duration: Int64?
    /// `skipoffset`: from here on the person may skip the ad; nil if the ad cannot be skipped.
    public var skipOffset: AdOffset?
    /// The tracking events.
    package var events: [TrackingEvent] = []
    /// The media files.
    public var mediaFiles: [MediaFile] = []
    /// The address that opens on a click.
    public var clickThrough: AdURL?
    /// The addresses to call on a click.
    package var clickTracking: [AdURL] = []
    /// The addresses to call on a click on something else than the ad as a whole (`CustomClick`).
    package var customClicks: [AdURL] = []
    /// The icons over the ad, such as AdChoices.
    package var icons: [AdIcon] = []
}

/// An icon over a linear creative (VAST 4.2, section 3.11).
package struct AdIcon: Hashable, Sendable {
    /// `program`: the programme to which the icon belongs.
    package var program: String?
    /// `width` in pixels.
    package var width: Int?
    /// `height` in pixels.
    package var height: Int?
    /// `offset` in nanoseconds: the position in the ad from which the icon is shown.
    package var offset: Int64?
    /// `duration` in nanoseconds; nil shows the icon to the end.
    package var duration: Int64?
    /// The resources.
    package var resources: [CreativeResource] = []
    /// The address that opens on a click.
    package var clickThrough: AdURL?
    /// The addresses to call on a click (`IconClickTracking`).
    package var clickTracking: [AdURL] = []
    /// The addresses to call when the icon is shown (`IconViewTracking`).
    package var viewTracking: [AdURL] = []
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
    package var apiFramework: String?
}

/// Non-linear creatives of an ad (VAST 4.2, section 3.12).
package struct NonLinearCreative: Hashable, Sendable {
    /// One image or document.
    package struct Variant: Hashable, Sendable {
        /// `width` in pixels.
        package var width: Int?
        /// `height` in pixels.
        package var height: Int?
        /// `minSuggestedDuration` in nanoseconds.
        package var minimumDuration: Int64?
        /// The resource; nil if it has none.
        package var resource: CreativeResource?
        /// The address that opens on a click.
        package var clickThrough: AdURL?
        /// The addresses to call on a click.
        package var clickTracking: [AdURL] = []
    }

    /// The images and documents.
    package var variants: [Variant] = []
    /// The tracking events.
    package var events: [TrackingEvent] = []
}

/// A companion of an ad (VAST 4.2, section 3.13).
package struct Companion: Hashable, Sendable {
    /// `id`.
    package var id: String?
    /// `width` in pixels.
    package var width: Int?
    /// `height` in pixels.
    package var height: Int?
    /// The resources.
    package var resources: [CreativeResource] = []
    /// The address that opens on a click.
    package var clickThrough: AdURL?
    /// The addresses to call on a click.
    package var clickTracking: [AdURL] = []
    /// The tracking events; only `creativeView` is defined.
    package var events: [TrackingEvent] = []
}

/// A resource of a non-linear creative or a companion (VAST 4.2, section 3.15).
package enum CreativeResource: Hashable, Sendable {
    /// An image, with its MIME type if known.
    case `static`(AdURL, type: String?)
    /// A document for a frame.
    case frame(AdURL)
    /// The number of bytes of HTML in the response.
    case html(byteCount: Int)
}
