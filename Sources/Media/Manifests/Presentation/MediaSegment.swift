package import Instrument
package import InstrumentHTTP

/// A range of bytes of a resource.
public struct ByteRange: Hashable, Sendable {
    /// The first byte's offset.
    public var offset: Int64
    /// The number of bytes; nil means to the end.
    public var length: Int64?

    /// Creates a range.
    public init(offset: Int64, length: Int64?) {
        self.offset = offset
        self.length = length
    }

    /// The value of a `Range` header (RFC 9110 section 14.1.2).
    package var headerValue: String { "bytes=\(interval)" }

    /// The first and the last byte's offsets with a dash between them, the last one left out for a range without an
    /// end.
    package var interval: String {
        guard let length else { return "\(offset)-" }
        return "\(offset)-\(offset.saturatingAdd(Swift.max(length, 1) - 1))"
    }
}

/// An initialization section (`EXT-X-MAP`, `Initialization`), which precedes the segments that name it.
///
/// Equal values denote the same bytes, so the value can be its key in a cache.
package struct InitializationSegment: Hashable, Sendable {
    /// The address.
    package var url: HTTPURL
    /// The byte range; nil for the whole resource.
    package var byteRange: ByteRange?
    /// The encryption; nil without encryption.
    package var encryption: SegmentEncryption?

    /// Creates an initialization segment.
    package init(url: HTTPURL, byteRange: ByteRange? = nil, encryption: SegmentEncryption? = nil) {
        self.url = url
        self.byteRange = byteRange
        self.encryption = encryption
    }
}

/// The encryption of a segment, or of the samples in it.
package struct SegmentEncryption: Hashable, Sendable {
    /// The encryption method.
    package enum Method: Hashable, Sendable {
        /// AES-128-CBC with PKCS #7 padding over the whole segment (RFC 8216 section 5.2).
        case aes128
        /// Encrypted samples in a container that is not encrypted, by the method's name: `SAMPLE-AES` (RFC 8216 section
        /// 4.3.2.4), Common Encryption (ISO/IEC 23001-7). Times and sizes can be read without a key, pictures and
        /// sound cannot.
        case samples(String)
        /// An unsupported method over whole segments, by its name; do not fetch such segments.
        case unsupported(String)
    }

    /// The method.
    package var method: Method
    /// The address of the 16 bytes of the key; nil for unsupported methods, for encrypted samples whose key is not in
    /// the format `identity`, and where the playlist has the key itself. The query may contain secrets.
    package var keyURL: HTTPURL?
    /// The 16 bytes of the key, where the playlist has them in a `data:` address; nil without them.
    package var key: [UInt8]?
    /// The 16 bytes of the initialization vector: `IV`, or the media sequence number as a big-endian integer.
    package var initializationVector: [UInt8]
    /// What the manifest says for a licence server, for encrypted samples (HLS): the bytes of a `data:` address of
    /// `EXT-X-KEY`, such as a `pssh` box, the text of any other address, such as `skd://…`, or else `KEYID`; empty
    /// without these.
    package var licenceData: [UInt8] = []

    /// Creates an encryption.
    package init(method: Method, keyURL: HTTPURL?, initializationVector: [UInt8]) {
        self.method = method
        self.keyURL = keyURL
        self.initializationVector = initializationVector
    }

    /// Whether the container is encrypted, so that nothing can be read without the key.
    package var coversContainer: Bool { if case .samples = method { false } else { true } }
}

/// A segment of a rendition: its address and its time.
///
/// Times are nanoseconds on the presentation timeline, which all renditions share.
package struct MediaSegment: Hashable, Sendable {
    /// The number within the rendition; the next segment has the next number. HLS: the media sequence number.
    package var sequence: Int64
    /// Segments with different numbers may differ in codecs and timestamps. HLS: the discontinuity sequence; DASH: the
    /// start of the period, in nanoseconds.
    package var discontinuity: Int64
    /// The start, in nanoseconds.
    package var start: Int64
    /// The declared duration, in nanoseconds.
    package var duration: Int64
    /// The address.
    package var url: HTTPURL
    /// The byte range of the resource; nil for the whole resource.
    package var byteRange: ByteRange?
    /// The initialization section; nil without one (TS, packed audio).
    package var initialization: InitializationSegment? {
        get { sharedInitialization?.value }
        set { sharedInitialization = newValue.map(Shared.init) }
    }
    /// The encryption; nil without encryption.
    package var encryption: SegmentEncryption? {
        get { sharedEncryption?.value }
        set { sharedEncryption = newValue.map(Shared.init) }
    }
    /// The initialization section and the encryption, which segments have in common: a playlist lists thousands of
    /// them.
    package var sharedInitialization: Shared<InitializationSegment>?
    package var sharedEncryption: Shared<SegmentEncryption>?
    /// Whether the segment is a gap without media (`EXT-X-GAP`, a hole in a `SegmentTimeline`): let its time pass, or
    /// skip it.
    package var isGap = false
    /// The calendar time of the first frame; nil if not declared.
    package var wallTime: WallTime?
    /// The calendar time from which the segment is available (DASH, live); nil means now.
    package var availability: WallTime?
    /// The bitrate in the manifest, bit/s (`EXT-X-BITRATE`, the size in a `sidx`); nil if unknown.
    package var bitrate: Int64?
    /// The peak bitrate that an MPD declares for the representation in the period of the segment, bit/s
    /// (`@bandwidth`); nil for HLS.
    package var peakBitrate: Int64?
    /// The timestamp inside the media that corresponds to ``start``, in nanoseconds; nil if not declared (HLS).
    ///
    /// DASH: the media at `start` on the timeline has this decode time in the segment.
    package var mediaTime: Int64?

    /// The position of media minus its timestamp, in nanoseconds, which all segments of a representation in a period
    /// share; nil if not declared (HLS).
    package var mediaOffset: Int64?
    /// The duration of the media that the segment has before ``start``, in nanoseconds, where a period begins inside
    /// the segment (DASH, ISO/IEC 23009-1 section 5.3.9.2.2).
    package var trimmedStart: Int64 = 0
    /// The duration of the media that the segment may have behind its end, in nanoseconds, where a period ends inside
    /// the segment (DASH).
    package var trimmedEnd: Int64 = 0

    /// The parts in which the segment can be fetched as well (low-latency HLS); empty without parts.
    package var parts: [PartialSegment] = []
    /// The place in its segment, counted from zero, if this is one of the ``parts`` of a segment; nil for a segment.
    package var part: Int?
    /// The calendar time at which the last bytes become available; nil if they are available with the first ones
    /// (DASH: `@availabilityTimeComplete` is false).
    package var completion: WallTime?

    /// Whether the times in the container can be read without a key.
    package var hasReadableContainer: Bool { encryption.map { !$0.coversContainer } ?? true }

    /// The end, in nanoseconds; saturates.
    package var end: Int64 { start.saturatingAdd(duration) }

    /// The position of the first media of the segment, which may be before the period.
    package var mediaStart: Int64 { start.saturatingSubtract(trimmedStart) }
    /// The declared duration of all media of the segment.
    package var mediaDuration: Int64 { duration.saturatingAdd(trimmedStart).saturatingAdd(trimmedEnd) }

    /// Creates a segment.
    package init(sequence: Int64, discontinuity: Int64 = 0, start: Int64, duration: Int64, url: HTTPURL) {
        self.sequence = sequence
        self.discontinuity = discontinuity
        self.start = start
        self.duration = duration
        self.url = url
    }

    /// Returns one of the ``parts`` as a segment with the same number; nil if there is no such part.
    package func partial(_ place: Int) -> MediaSegment? {
        guard parts.indices.contains(place) else { return nil }
        let source = parts[place]
        let offset = source.offset
        var part = self
        part.parts = []
        part.part = place
        (part.url, part.byteRange, part.isGap) = (source.url, source.byteRange, source.isGap || isGap)
        (part.start, part.duration) = (start.saturatingAdd(offset), source.duration)
        part.wallTime = wallTime?.advanced(nanoseconds: offset)
        part.mediaTime = mediaTime?.saturatingAdd(offset)
        return part
    }
}
