internal import Instrument
package import InstrumentJSON
internal import InstrumentText

extension SpliceInfoSection {
    /// The section as JSON, with the names of the standard.
    ///
    /// Times are numbers of ticks of 90 kHz, each beside a member with the suffix `_seconds`; bytes are hexadecimal
    /// texts. `adjusted_pts_time` is the splice time with `pts_adjustment` added.
    package var json: JSONValue {
        var section: [String: JSONValue] = [
            "table_id": .int(Int(Self.tableID)), "section_syntax_indicator": .bool(hasLongSyntax),
            "private_indicator": .bool(isPrivate), "sap_type": .int(Int(sapType)),
            "section_length": .int(Int(sectionLength)), "protocol_version": .int(Int(protocolVersion)),
            "encrypted_packet": .bool(encryption != nil), "cw_index": .int(Int(controlWordIndex)),
            "tier": .int(Int(tier)), "splice_command_length": .int(Int(commandLength)), "CRC_32": .int(Int(crc)),
            "findings": .array(findings.map(\.json)), "descriptors": .array(descriptors.map(\.json)),
        ]
        if notation == .xml {
            for name in ["section_length", "splice_command_length", "CRC_32"] { section[name] = nil }
        }
        section.set("pts_adjustment", ptsAdjustment)
        section["splice_command_type"] = command.map { .int(Int($0.type)) }
        section["splice_command"] = command?.json
        if let adjustedTime { section.set("adjusted_pts_time", adjustedTime) }
        if !stuffing.isEmpty { section["alignment_stuffing"] = .hexadecimal(stuffing) }
        if let encryption {
            section["encryption_algorithm"] = .int(Int(encryption.algorithm))
            section["encryption_algorithm_name"] = .string(encryption.algorithmName)
            section["encrypted_bytes"] = .hexadecimal(encryption.payload)
        }
        return .object(section)
    }
}

extension AdFinding {
    /// The finding as JSON.
    package var json: JSONValue {
        var members: [String: JSONValue] = [
            "severity": .string(severity.rawValue), "rule": .string(rule), "message": .string(message),
        ]
        if !path.isEmpty { members["path"] = .string(path) }
        members["code"] = code.map { .int($0) }
        members["line"] = line.map { .int($0) }
        return .object(members)
    }
}

extension SpliceCommand {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = ["name": .string(name)]
        switch self {
        case .null, .bandwidthReservation: break
        case .schedule(let splices): members["splices"] = .array(splices.map(\.json))
        case .insert(let insert): insert.write(to: &members)
        case .timeSignal(let time): members.set(time: time)
        case .privateCommand(let identifier, let bytes):
            members["identifier"] = .int(Int(identifier))
            members["identifier_text"] = .string(SpliceDescriptor.text(ofIdentifier: identifier))
            members["private_bytes"] = .hexadecimal(bytes)
        case .reserved(_, let bytes): members["bytes"] = .hexadecimal(bytes)
        }
        return .object(members)
    }
}

extension SpliceInsert {
    fileprivate func write(to members: inout [String: JSONValue]) {
        members["splice_event_id"] = .int(Int(eventID))
        members["splice_event_cancel_indicator"] = .bool(isCancelled)
        if isCancelled { return }
        members["out_of_network_indicator"] = .bool(isOutOfNetwork)
        members["program_splice_flag"] = .bool(isProgramSplice)
        members["duration_flag"] = .bool(breakDuration != nil)
        members["splice_immediate_flag"] = .bool(isImmediate)
        members["event_id_compliance_flag"] = .bool(isEventIDCompliant)
        if isProgramSplice, !isImmediate { members.set(time: time) }
        if !isProgramSplice {
            members["components"] = .array(
                components.map { component in
                    var value: [String: JSONValue] = ["component_tag": .int(Int(component.tag))]
                    if !isImmediate { value.set(time: component.time) }
                    return .object(value)
                }
            )
        }
        members.set(breakDuration)
        members["unique_program_id"] = .int(Int(uniqueProgramID))
        members["avail_num"] = .int(Int(availNumber))
        members["avails_expected"] = .int(Int(availsExpected))
    }
}

extension ScheduledSplice {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "splice_event_id": .int(Int(eventID)), "splice_event_cancel_indicator": .bool(isCancelled),
            "event_id_compliance_flag": .bool(isEventIDCompliant),
        ]
        if isCancelled { return .object(members) }
        members["out_of_network_indicator"] = .bool(isOutOfNetwork)
        members["program_splice_flag"] = .bool(isProgramSplice)
        members["duration_flag"] = .bool(breakDuration != nil)
        members["utc_splice_time"] = utcTime.map { .int(Int($0)) }
        if !isProgramSplice {
            members["components"] = .array(
                components.map { ["component_tag": .int(Int($0.tag)), "utc_splice_time": .int(Int($0.utcTime))] }
            )
        }
        members.set(breakDuration)
        members["unique_program_id"] = .int(Int(uniqueProgramID))
        members["avail_num"] = .int(Int(availNumber))
        members["avails_expected"] = .int(Int(availsExpected))
        return .object(members)
    }
}

extension [String: JSONValue] {
    mutating func set(_ name: String, _ ticks: SpliceTicks) {
        self[name] = .int(Int(clamping: ticks.rawValue))
        self[name + "_seconds"] = .double(ticks.seconds)
    }

    fileprivate mutating func set(time: SpliceTicks?) {
        self["time_specified_flag"] = .bool(time != nil)
        if let time { set("pts_time", time) }
    }

    fileprivate mutating func set(_ duration: BreakDuration?) {
        guard let duration else { return }
        self["auto_return"] = .bool(duration.isAutoReturn)
        set("break_duration", duration.duration)
    }
}

extension JSONValue {
    /// `0x` and two digits a byte.
    static func hexadecimal(_ bytes: [UInt8]) -> JSONValue { .string("0x" + bytes.hexadecimal()) }
}
