/// A boundary of content, its kind and its identifier (SCTE 35, section 10.3.3).
package struct SegmentationDescriptor: Hashable, Sendable {
    /// The restrictions of delivery.
    package struct Restrictions: Hashable, Sendable {
        /// `web_delivery_allowed_flag`.
        package var isWebDeliveryAllowed: Bool
        /// `no_regional_blackout_flag`.
        package var hasNoRegionalBlackout: Bool
        /// `archive_allowed_flag`.
        package var isArchiveAllowed: Bool
        /// `device_restrictions`: 0 to 2 restrict a group of devices, 3 restricts none.
        package var deviceRestrictions: UInt8
    }

    /// One component of a segment that does not affect the whole program.
    package struct Component: Hashable, Sendable {
        /// `component_tag`.
        package var tag: UInt8
        /// `pts_offset`.
        package var offset: SpliceTicks
    }

    /// `segmentation_event_id`.
    package var eventID: UInt32
    /// `segmentation_event_cancel_indicator`: the event is cancelled, and all other properties are without meaning.
    package var isCancelled = false
    /// The bit `segmentation_event_id_compliance_indicator`, which editions before 2020 reserve as 1.
    package var isEventIDCompliant = true
    /// `program_segmentation_flag`.
    package var isProgramSegmentation = true
    /// The restrictions of delivery; nil if delivery is not restricted.
    package var restrictions: Restrictions?
    /// The components; empty for a segmentation of the whole program.
    package var components: [Component] = []
    /// `segmentation_duration`; nil if the descriptor has none.
    package var duration: SpliceTicks?
    /// The identifier of the content.
    package var upid = SegmentationUPID(type: .notUsed, bytes: [])
    /// `segmentation_type_id`.
    package var type = SegmentationType(0)
    /// `segment_num`.
    package var segmentNumber: UInt8 = 0
    /// `segments_expected`.
    package var segmentsExpected: UInt8 = 0
    /// `sub_segment_num` and `sub_segments_expected`; nil if the descriptor has none.
    package var subSegment: SubSegment?

    /// The position of a segment in a group of segments.
    package struct SubSegment: Hashable, Sendable {
        /// `sub_segment_num`.
        package var number: UInt8
        /// `sub_segments_expected`.
        package var expected: UInt8
    }

    /// Creates a descriptor of an event.
    package init(eventID: UInt32) { self.eventID = eventID }
}

/// The kind of a segmentation (`segmentation_type_id`, SCTE 35, table 23).
package struct SegmentationType: RawRepresentable, Hashable, Sendable {
    /// The value on the wire.
    package var rawValue: UInt8

    /// Creates a type from its value.
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Creates a type from its value.
    package init(_ value: UInt8) { rawValue = value }

    /// The name in the standard; `Reserved` for values that the standard does not define.
    package var name: String { Self.names[rawValue] ?? "Reserved" }

    /// Whether the segment carries, or offers room for, ads: types 0x22 and 0x23 and 0x30 to 0x47 except the
    /// unscheduled events.
    package var isAdvertising: Bool {
        [0x22, 0x23].contains(rawValue) || 0x30...0x3F ~= rawValue || 0x42...0x47 ~= rawValue
    }

    /// Whether a type begins a segment. A type whose lowest bit is 0 begins, from 0x10 on; 0x10 to 0x1A have
    /// exceptions.
    package var isStart: Bool {
        switch rawValue {
        case 0x10, 0x14, 0x17, 0x19, 0x1A: true
        case 0x20...0x27, 0x30...0x47, 0x50, 0x51: rawValue & 1 == 0
        default: false
        }
    }

    /// Whether a type ends a segment.
    package var isEnd: Bool {
        switch rawValue {
        case 0x11, 0x12, 0x13: true
        case 0x20...0x27, 0x30...0x47, 0x50, 0x51: rawValue & 1 == 1
        default: false
        }
    }

    /// Whether the standard allows `sub_segment_num` and `sub_segments_expected` behind this type.
    var canHaveSubSegments: Bool { [0x30, 0x32, 0x34, 0x36, 0x38, 0x3A, 0x44, 0x46].contains(rawValue) }

    private static let names: [UInt8: String] = [
        0x00: "Not Indicated", 0x01: "Content Identification", 0x02: "Private",
        0x10: "Program Start", 0x11: "Program End", 0x12: "Program Early Termination", 0x13: "Program Breakaway",
        0x14: "Program Resumption", 0x15: "Program Runover Planned", 0x16: "Program Runover Unplanned",
        0x17: "Program Overlap Start", 0x18: "Program Blackout Override", 0x19: "Program Join",
        0x1A: "Program Immediate Resumption",
        0x20: "Chapter Start", 0x21: "Chapter End", 0x22: "Break Start", 0x23: "Break End",
        0x24: "Opening Credit Start", 0x25: "Opening Credit End", 0x26: "Closing Credit Start",
        0x27: "Closing Credit End",
        0x30: "Provider Advertisement Start", 0x31: "Provider Advertisement End",
        0x32: "Distributor Advertisement Start", 0x33: "Distributor Advertisement End",
        0x34: "Provider Placement Opportunity Start", 0x35: "Provider Placement Opportunity End",
        0x36: "Distributor Placement Opportunity Start", 0x37: "Distributor Placement Opportunity End",
        0x38: "Provider Overlay Placement Opportunity Start", 0x39: "Provider Overlay Placement Opportunity End",
        0x3A: "Distributor Overlay Placement Opportunity Start",
        0x3B: "Distributor Overlay Placement Opportunity End",
        0x3C: "Provider Promo Start", 0x3D: "Provider Promo End",
        0x3E: "Distributor Promo Start", 0x3F: "Distributor Promo End",
        0x40: "Unscheduled Event Start", 0x41: "Unscheduled Event End",
        0x42: "Alternate Content Opportunity Start", 0x43: "Alternate Content Opportunity End",
        0x44: "Provider Ad Block Start", 0x45: "Provider Ad Block End",
        0x46: "Distributor Ad Block Start", 0x47: "Distributor Ad Block End",
        0x50: "Network Start", 0x51: "Network End",
    ]
}
