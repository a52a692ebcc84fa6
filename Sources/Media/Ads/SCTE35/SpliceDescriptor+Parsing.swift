internal import Instrument

extension SpliceDescriptor {
    init(_ loop: inout BitReader) throws(SpliceError) {
        let tag: UInt8 = try loop.integer("splice_descriptor_tag")
        let length: UInt8 = try loop.integer("descriptor_length")
        guard loop.remainingBytes >= Int(length) else {
            let message = "`descriptor_length` is \(length), beyond the loop (found \(loop.remainingBytes) bytes)"
            throw SpliceError(.length, message)
        }
        var body = BitReader(try loop.take(Int(length), "splice_descriptor"))
        do {
            let identifier: UInt32 = try body.integer("identifier")
            let content = try Content(tag, identifier, &body)
            self.init(tag: tag, length: length, identifier: identifier, content: content, trailing: body.rest())
        } catch {
            let message = "`descriptor_length` is \(length), too short for descriptor \(tag): \(error.message)"
            throw SpliceError(.length, message)
        }
    }

    /// Deviations from the standard that do not prevent decoding.
    var defects: [String] {
        var defects = trailing.isEmpty ? [] : ["\(trailing.count) bytes follow the last field of a `\(name)`"]
        if case .segmentation(let segmentation) = content, segmentation.upid.hasDefect {
            let type = segmentation.upid.type
            defects.append("`segmentation_upid` does not have the format of its type (\(type.name))")
        }
        return defects
    }
}

extension SegmentationUPID {
    fileprivate var hasDefect: Bool {
        if case .multiple(let members) = value { return members.contains(where: \.isMalformed) }
        return isMalformed
    }
}

extension SpliceDescriptor.Content {
    fileprivate init(_ tag: UInt8, _ identifier: UInt32, _ reader: inout BitReader) throws(SpliceError) {
        guard identifier == SpliceDescriptor.standardIdentifier else {
            self = .other(reader.rest())
            return
        }
        switch tag {
        case 0x00: self = .avail(try reader.integer("provider_avail_id"))
        case 0x01: self = .dtmf(try DTMFDescriptor(&reader))
        case 0x02: self = .segmentation(try SegmentationDescriptor(&reader))
        case 0x03:
            let seconds = try reader.number(48, "TAI_seconds")
            let nanoseconds: UInt32 = try reader.integer("TAI_ns")
            let offset: UInt16 = try reader.integer("UTC_offset")
            self = .time(TimeDescriptor(taiSeconds: seconds, taiNanoseconds: nanoseconds, utcOffset: offset))
        case 0x04: self = .audio(try Self.audio(&reader))
        default: self = .other(reader.rest())
        }
    }

    private static func audio(_ reader: inout BitReader) throws(SpliceError) -> [AudioComponent] {
        let count = try reader.number(4, "audio_count")
        try reader.skip(4)
        var components: [AudioComponent] = []
        for _ in 0..<count {
            let tag: UInt8 = try reader.integer("component_tag")
            let language = String(decoding: try reader.take(3, "ISO_code"), as: UTF8.self)
            let mode: UInt8 = try reader.integer(3, "Bit_Stream_Mode")
            let channels: UInt8 = try reader.integer(4, "Num_Channels")
            let isFull = try reader.flag("Full_Srvc_Audio")
            components.append(
                AudioComponent(
                    tag: tag,
                    language: language,
                    bitStreamMode: mode,
                    channels: channels,
                    isFullService: isFull
                )
            )
        }
        return components
    }
}

extension DTMFDescriptor {
    fileprivate init(_ reader: inout BitReader) throws(SpliceError) {
        preroll = try reader.integer("preroll")
        let count = Int(try reader.number(3, "dtmf_count"))
        try reader.skip(5)
        tones = String(decoding: try reader.take(count, "DTMF_char"), as: UTF8.self)
    }
}

extension SegmentationDescriptor {
    fileprivate init(_ reader: inout BitReader) throws(SpliceError) {
        self.init(eventID: try reader.integer("segmentation_event_id"))
        isCancelled = try reader.flag("segmentation_event_cancel_indicator")
        isEventIDCompliant = try reader.flag("segmentation_event_id_compliance_indicator")
        try reader.skip(6)
        if isCancelled { return }
        isProgramSegmentation = try reader.flag("program_segmentation_flag")
        let hasDuration = try reader.flag("segmentation_duration_flag")
        if try reader.flag("delivery_not_restricted_flag") {
            try reader.skip(5)
        } else {
            restrictions = try Restrictions(&reader)
        }
        if !isProgramSegmentation {
            for _ in 0..<(try reader.number(8, "component_count")) {
                let tag: UInt8 = try reader.integer("component_tag")
                try reader.skip(7)
                components.append(Component(tag: tag, offset: SpliceTicks(try reader.number(33, "pts_offset"))))
            }
        }
        if hasDuration { duration = SpliceTicks(try reader.number(40, "segmentation_duration")) }
        let kind = SegmentationUPID.Kind(rawValue: try reader.integer("segmentation_upid_type"))
        let length = Int(try reader.number(8, "segmentation_upid_length"))
        upid = SegmentationUPID(type: kind, bytes: Array(try reader.take(length, "segmentation_upid")))
        type = SegmentationType(try reader.integer("segmentation_type_id"))
        segmentNumber = try reader.integer("segment_num")
        segmentsExpected = try reader.integer("segments_expected")
        // Optional in practice: encoders of the editions before the type had sub-segments leave the fields out.
        if type.canHaveSubSegments, reader.remainingBytes >= 2 {
            let number: UInt8 = try reader.integer("sub_segment_num")
            subSegment = SubSegment(number: number, expected: try reader.integer("sub_segments_expected"))
        }
    }
}

extension SegmentationDescriptor.Restrictions {
    fileprivate init(_ reader: inout BitReader) throws(SpliceError) {
        isWebDeliveryAllowed = try reader.flag("web_delivery_allowed_flag")
        hasNoRegionalBlackout = try reader.flag("no_regional_blackout_flag")
        isArchiveAllowed = try reader.flag("archive_allowed_flag")
        deviceRestrictions = try reader.integer(2, "device_restrictions")
    }
}
