internal import Instrument
package import InstrumentHTTP

/// The abilities that a server declares for low-latency playback (`EXT-X-SERVER-CONTROL` and `EXT-X-PART-INF`,
/// rfc8216bis sections 4.4.3.7 and 4.4.3.8). Times are nanoseconds.
package struct ServerControl: Hashable, Sendable {
    /// `CAN-BLOCK-RELOAD`: the server holds the request for a playlist until the playlist has a named segment or part.
    package var canBlockReload = false
    /// `CAN-SKIP-UNTIL`: the distance from the live edge beyond which a delta update leaves segments out; nil if the
    /// server makes no delta updates.
    package var canSkipUntil: Int64?
    /// `HOLD-BACK`, the declared target latency; nil if not declared.
    package var holdBack: Int64?
    /// `PART-HOLD-BACK`, the declared target latency of players that fetch parts; nil if not declared.
    package var partHoldBack: Int64?
    /// `PART-TARGET`, the longest duration of a part; nil without `EXT-X-PART-INF`.
    package var partTarget: Int64?

    /// Whether a target latency is declared, towards which players may change the playback rate.
    var declaresHoldBack: Bool { holdBack != nil || partHoldBack != nil }

    /// Creates the control of a server that declares nothing.
    package init() {}
}

/// A part of a media segment that can be fetched before the segment is complete (`EXT-X-PART`, rfc8216bis section
/// 4.4.4.9).
package struct PartialSegment: Hashable, Sendable {
    /// The address.
    package var url: HTTPURL
    /// The byte range; nil for the whole resource.
    package var byteRange: ByteRange?
    /// The start in its segment, in nanoseconds.
    package var offset: Int64
    /// The duration, in nanoseconds.
    package var duration: Int64
    /// Whether the part has a frame at which decoding can begin.
    package var isIndependent: Bool
    /// Whether the part is not available.
    package var isGap: Bool

    /// Creates a part.
    package init(
        url: HTTPURL,
        byteRange: ByteRange? = nil,
        offset: Int64 = 0,
        duration: Int64,
        isIndependent: Bool = false,
        isGap: Bool = false
    ) {
        self.url = url
        self.byteRange = byteRange
        self.offset = offset
        self.duration = duration
        self.isIndependent = isIndependent
        self.isGap = isGap
    }
}

/// The address of a resource that the playlist will need next, which the server answers as soon as the resource exists
/// (`EXT-X-PRELOAD-HINT`, rfc8216bis section 4.4.5.3).
///
/// A hint is no promise: the playlist may continue with another resource.
package struct PreloadHint: Hashable, Sendable {
    /// The address.
    package var url: HTTPURL
    /// The byte range; nil for the whole resource. A range without a length ends with the resource.
    package var byteRange: ByteRange?

    /// Whether the end of the hinted bytes is known only from a later playlist (`BYTERANGE-START` without
    /// `BYTERANGE-LENGTH`), so that a request brings the bytes behind them as well.
    package var isOpenEnded: Bool { byteRange.map { $0.length == nil } ?? false }

    /// Creates a hint.
    package init(url: HTTPURL, byteRange: ByteRange? = nil) {
        self.url = url
        self.byteRange = byteRange
    }
}

/// What another rendition's playlist has last (`EXT-X-RENDITION-REPORT`, rfc8216bis section 4.4.5.4).
package struct RenditionReport: Hashable, Sendable {
    /// The address of the other playlist.
    package var url: HTTPURL
    /// The media sequence number of the last segment, complete or not.
    package var lastSequence: Int64
    /// The place of the last part in that segment, counted from zero; nil without parts.
    package var lastPart: Int?

    /// Creates a report.
    package init(url: HTTPURL, lastSequence: Int64, lastPart: Int? = nil) {
        self.url = url
        self.lastSequence = lastSequence
        self.lastPart = lastPart
    }
}
