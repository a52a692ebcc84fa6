/// A descriptor of a section (SCTE 35, section 10).
public struct SpliceDescriptor: Hashable, Sendable {
    /// The identifier `CUEI` of the descriptors that the standard defines.
    public static let standardIdentifier: UInt32 = 0x4355_4549

    /// The content of a descriptor.
    public enum Content: Hashable, Sendable {
        /// `avail_descriptor`: `provider_avail_id`.
        case avail(UInt32)
        /// `DTMF_descriptor`.
        case dtmf(DTMFDescriptor)
        /// `segmentation_descriptor`.
        case segmentation(SegmentationDescriptor)
        /// `time_descriptor`.
        case time(TimeDescriptor)
        /// `audio_descriptor`: the audio components.
        case audio([AudioComponent])
        /// A descriptor of another owner, or one that the standard reserves: its content after the identifier.
        case other([UInt8])
    }

    /// `splice_descriptor_tag`.
    public var tag: UInt8
    /// `descriptor_length`: the number of bytes after this field.
    public var length: UInt8
    /// `identifier`: the owner of the descriptor's format.
    public var identifier: UInt32
    /// The content of the descriptor.
    public var content: Content
    /// Bytes after the last field that the standard defines.
    public var trailing: [UInt8] = []

    /// The name of the descriptor in the standard.
    public var name: String {
        switch content {
        case .avail: "avail_descriptor"
        case .dtmf: "DTMF_descriptor"
        case .segmentation: "segmentation_descriptor"
        case .time: "time_descriptor"
        case .audio: "audio_descriptor"
        case .other: identifier == Self.standardIdentifier ? "reserved_descriptor" : "private_descriptor"
        }
    }

    /// The identifier as four characters; characters that are not printable ASCII as `.`.
    public var identifierText: String { Self.text(ofIdentifier: identifier) }

    static func text(ofIdentifier identifier: UInt32) -> String {
        let bytes = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: identifier >> UInt32($0)) }
        return String(decoding: bytes.map { 0x20...0x7E ~= $0 ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
    }
}

/// Tones that a receiver emits (SCTE 35, section 10.3.2).
public struct DTMFDescriptor: Hashable, Sendable {
    /// `preroll`: the lead of the tones before the splice, in tenths of a second.
    public var preroll: UInt8
    /// The tones: `0` to `9`, `*`, `#`.
    public var tones: String
}

/// The wall clock of an encoder (SCTE 35, section 10.3.4).
public struct TimeDescriptor: Hashable, Sendable {
    /// `TAI_seconds`: 48 bits.
    public var taiSeconds: UInt64
    /// `TAI_ns`.
    public var taiNanoseconds: UInt32
    /// `UTC_offset`: the difference of TAI and UTC, in seconds.
    public var utcOffset: UInt16
}

/// An audio component (SCTE 35, section 10.3.5).
public struct AudioComponent: Hashable, Sendable {
    /// `component_tag`.
    public var tag: UInt8
    /// `ISO_code`: the language.
    public var language: String
    /// `Bit_Stream_Mode` (ATSC A/52).
    public var bitStreamMode: UInt8
    /// `Num_Channels` (ATSC A/52).
    public var channels: UInt8
    /// `Full_Srvc_Audio`.
    public var isFullService: Bool
}
