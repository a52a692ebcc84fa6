internal import InstrumentJSON

extension SpliceDescriptor {
    var json: JSONValue {
        var members: [String: JSONValue] = [
            "splice_descriptor_tag": .int(Int(tag)), "descriptor_length": .int(Int(length)),
            "identifier": .string(identifierText), "name": .string(name),
        ]
        switch content {
        case .avail(let identifier): members["provider_avail_id"] = .int(Int(identifier))
        case .dtmf(let value):
            members["preroll"] = .int(Int(value.preroll))
            members["DTMF_char"] = .string(value.tones)
        case .segmentation(let value): value.write(to: &members)
        case .time(let value):
            members["TAI_seconds"] = .int(Int(clamping: value.taiSeconds))
            members["TAI_ns"] = .int(Int(value.taiNanoseconds))
            members["UTC_offset"] = .int(Int(value.utcOffset))
        case .audio(let components): members["components"] = .array(components.map(\.json))
        case .other(let bytes): members["private_bytes"] = .hexadecimal(bytes)
        }
        if !trailing.isEmpty { members["trailing_bytes"] = .hexadecimal(trailing) }
        return .object(members)
    }
}

extension AudioComponent {
    fileprivate var json: JSONValue {
        [
            "component_tag": .int(Int(tag)), "ISO_code": .string(language), "Bit_Stream_Mode": .int(Int(bitStreamMode)),
            "Num_Channels": .int(Int(channels)), "Full_Srvc_Audio": .bool(isFullService),
        ]
    }
}

extension SegmentationDescriptor {
    fileprivate func write(to members: inout [String: JSONValue]) {
        members["segmentation_event_id"] = .int(Int(eventID))
        members["segmentation_event_cancel_indicator"] = .bool(isCancelled)
        members["segmentation_event_id_compliance_indicator"] = .bool(isEventIDCompliant)
        if isCancelled { return }
        members["program_segmentation_flag"] = .bool(isProgramSegmentation)
        members["segmentation_duration_flag"] = .bool(duration != nil)
        members["delivery_not_restricted_flag"] = .bool(restrictions == nil)
        if let restrictions {
            members["web_delivery_allowed_flag"] = .bool(restrictions.isWebDeliveryAllowed)
            members["no_regional_blackout_flag"] = .bool(restrictions.hasNoRegionalBlackout)
            members["archive_allowed_flag"] = .bool(restrictions.isArchiveAllowed)
            members["device_restrictions"] = .int(Int(restrictions.deviceRestrictions))
        }
        if !isProgramSegmentation {
            members["components"] = .array(
                components.map { component in
                    var value: [String: JSONValue] = ["component_tag": .int(Int(component.tag))]
                    value.set("pts_offset", component.offset)
                    return .object(value)
                }
            )
        }
        if let duration { members.set("segmentation_duration", duration) }
        members["segmentation_upid"] = upid.json
        members["segmentation_type_id"] = .int(Int(type.rawValue))
        members["segmentation_type_name"] = .string(type.name)
        members["segment_num"] = .int(Int(segmentNumber))
        members["segments_expected"] = .int(Int(segmentsExpected))
        if let subSegment {
            members["sub_segment_num"] = .int(Int(subSegment.number))
            members["sub_segments_expected"] = .int(Int(subSegment.expected))
        }
    }
}

extension SegmentationUPID {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "segmentation_upid_type": .int(Int(type.rawValue)), "segmentation_upid_type_name": .string(type.name),
            "segmentation_upid_length": .int(bytes.count), "bytes": .hexadecimal(bytes),
        ]
        if isMalformed { members["is_malformed"] = true }
        switch value {
        case .none: break
        case .text(let text): members["value"] = .string(text)
        // Beyond 63 bits, JSON readers lose digits of a number.
        case .number(let number): members["value"] = .string("0x" + String(number, radix: 16))
        case .bytes(let bytes): members["value"] = .hexadecimal(bytes)
        case .managedPrivate(let format, let bytes):
            members["format_identifier"] = .string(SpliceDescriptor.text(ofIdentifier: format))
            members["private_data"] = .hexadecimal(bytes)
        case .atsc(let identifier):
            members["TSID"] = .int(Int(identifier.transportStreamID))
            members["end_of_day"] = .int(Int(identifier.endOfDay))
            members["unique_for"] = .int(Int(identifier.uniqueFor))
            members["content_id"] = .hexadecimal(identifier.contentID)
        case .multiple(let identifiers): members["upids"] = .array(identifiers.map(\.json))
        }
        return .object(members)
    }
}
