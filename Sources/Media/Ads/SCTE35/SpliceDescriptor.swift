/// A descriptor of a section (SCTE 35, section 10).
package struct SpliceDescriptor: Hashable, Sendable {
    /// The identifier `CUEI` of the descriptors that the standard defines.
    package static let standardIdentifier: UInt32 = 0x4355_4549

    /// The content of a descriptor.
    package enum Content: Hashable, Sendable {
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
    package var tag: UInt8
    /// `descriptor_length`: the number of bytes after this field.
    package var length: UInt8
    /// `identifier`: the owner of the descriptor's format.
    package var identifier: UInt32
    /// The content of the descriptor.
    package var content: Content
    /// Bytes after the last field that the standard defines.
    package var trailing: [UInt8] = []

    /// The name of the descriptor in the standard.
    package var name: String {
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
    package var identifierText: String { Self.text(ofIdentifier: identifier) }

    static func text(ofIdentifier identifier: UInt32) -> String {
        let bytes = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: identifier >> UInt32($0)) }
        return String(decoding: bytes.map { 0x20...0x7E ~= $0 ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
    }
}

/// Tones that a receiver emits (SCTE 35, section 10.3.2).
package struct DTMFDescriptor: Hashable, Sendable {
    /// `preroll`: the lead of the tones before the splice, in tenths of a second.
    package var preroll: UInt8
    /// The tones: `0` to `9`, `*`, `#`.
    package var tones: String
}

/// The wall clock of an encoder (SCTE 35, section 10.3.4).
package struct TimeDescriptor: Hashable, Sendable {
    /// `TAI_seconds`: 48 bits.
    package var taiSeconds: UInt64
    /// `TAI_ns`.
    package var taiNanoseconds: UInt32
    /// `UTC_offset`: the difference of TAI and UTC, in seconds.
    package var utcOffset: UInt16
}

/// An audio component (SCTE 35, section 10.3.5).
package struct AudioComponent: Hashable, Sendable {
    /// `component_tag`.
    package var tag: UInt8
    /// `ISO_code`: the language.
    package var language: String
    /// `Bit_Stream_Mode` (ATSC A/52).
    package var bitStreamMode: UInt8
    /// `Num_Channels` (ATSC A/52).
    package var channels: UInt8
    /// `Full_Srvc_Audio`.
    package var isFullService: Bool
}
