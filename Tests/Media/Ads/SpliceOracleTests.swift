import Foundation
import InstrumentJSON
import InstrumentText
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentAds

/// An independent decoder in a separate process. Install it with `scripts/install-threefive.sh`.
private enum Threefive {
    static let directory: String = {
        let root = packageRoot
        return ProcessInfo.processInfo.environment["THREEFIVE_DIRECTORY"]
            ?? root.appendingPathComponent(".build/threefive").path
    }()
    static let isInstalled = FileManager.default.isExecutableFile(atPath: directory + "/bin/python")

    /// The results for sections, in order.
    static func decode(_ sections: [[UInt8]]) throws -> [JSONValue] {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Oracle/decode.py")
        let input = NSTemporaryDirectory() + "sections-\(UUID().uuidString)"
        try sections.map(Base64.encode).joined(separator: "\n").write(toFile: input, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: input) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: directory + "/bin/python")
        process.arguments = [script.path]
        process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: input))
        let output = Pipe.forChild()
        process.standardOutput = output
        try process.start()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return try bytes.split(separator: UInt8(ascii: "\n")).map { try JSONValue(parsing: [UInt8]($0)) }
    }
}

@Suite("SCTE-35 against threefive", .ownThread)
struct SpliceOracleTests {
    /// Installed by `make test`; without it, the run lists the test as skipped, with the reason.
    @Test(
        "Our decoder agrees with threefive on generated sections",
        .enabled(if: Threefive.isInstalled, "SKIPPED: run scripts/install-threefive.sh")
    )
    func agreement() throws {
        var random = RandomSections(seed: 35)
        var sections: [[UInt8]] = []
        var index = 0
        while sections.count < 600 {
            let section = random.section(index)
            if section.isSupportedByThreefive { sections.append(section.encoded) }
            index += 1
        }
        let theirs = try Threefive.decode(sections)
        #expect(theirs.count == sections.count)
        var fields: Set<String> = []
        for (bytes, other) in zip(sections, theirs) {
            let ours = try SpliceInfoSection(bytes: bytes)
            let (left, right) = (ours.comparable, Comparable(other).fields)
            for (name, value) in right {
                #expect(left[name] == value, "\(name) of \(Base64.encode(bytes))")
                fields.insert(String(name.drop { $0 != "." }))
            }
            #expect(!right.isEmpty, "\(other)")
        }
        // Every field that both decoders know was compared at least once.
        #expect(fields.count >= 45, "\(fields.sorted())")
    }
}

extension SpliceInfoSection {
    /// threefive 3.1.5 does not decode splice_schedule, component splices and segmentations, reserved commands, audio
    /// and private descriptors; it
    /// reads four bytes too few of a UMID. The tests of these forms are the round trips.
    fileprivate var isSupportedByThreefive: Bool {
        switch command {
        case .schedule, .reserved: return false
        case .insert(let insert) where !insert.isCancelled && !insert.isProgramSplice: return false
        default: break
        }
        return descriptors.allSatisfy { descriptor in
            switch descriptor.content {
            case .audio, .other: false
            case .segmentation(let value): value.isProgramSegmentation && value.upid.isSupportedByThreefive
            default: true
            }
        }
    }

    /// The fields by the names of threefive, in its notation.
    fileprivate var comparable: [String: String] {
        var fields: [String: String] = [:]
        fields["info.sap_type"] = String(sapType)
        fields["info.section_length"] = String(sectionLength)
        fields["info.protocol_version"] = String(protocolVersion)
        fields["info.pts_adjustment"] = Comparable.seconds(ptsAdjustment.seconds)
        fields["info.cw_index"] = String(controlWordIndex)
        fields["info.tier"] = String(tier)
        fields["info.splice_command_length"] = String(commandLength)
        fields["info.splice_command_type"] = command.map { String($0.type) }
        fields["info.crc"] = String(crc)
        if let command { add(command, &fields) }
        for (index, descriptor) in descriptors.enumerated() { descriptor.add("\(index)", &fields) }
        return fields
    }

    private func add(_ command: SpliceCommand, _ fields: inout [String: String]) {
        switch command {
        case .timeSignal(let time):
            fields["command.time_specified_flag"] = "\(time != nil)"
            fields["command.pts_time"] = time.map { Comparable.seconds($0.seconds) }
        case .privateCommand(let identifier, _): fields["command.identifier"] = String(identifier)
        case .insert(let insert):
            fields["command.splice_event_id"] = String(insert.eventID)
            fields["command.splice_event_cancel_indicator"] = "\(insert.isCancelled)"
            fields["command.out_of_network_indicator"] = "\(insert.isOutOfNetwork)"
            fields["command.program_splice_flag"] = "\(insert.isProgramSplice)"
            fields["command.duration_flag"] = "\(insert.breakDuration != nil)"
            fields["command.splice_immediate_flag"] = "\(insert.isImmediate)"
            fields["command.event_id_compliance_flag"] = "\(insert.isEventIDCompliant)"
            fields["command.time_specified_flag"] = "\(insert.time != nil)"
            fields["command.pts_time"] = insert.time.map { Comparable.seconds($0.seconds) }
            fields["command.break_auto_return"] = insert.breakDuration.map { "\($0.isAutoReturn)" }
            fields["command.break_duration"] = insert.breakDuration.map { Comparable.seconds($0.duration.seconds) }
            fields["command.unique_program_id"] = String(insert.uniqueProgramID)
            fields["command.avail_num"] = String(insert.availNumber)
            fields["command.avails_expected"] = String(insert.availsExpected)
        default: break
        }
    }
}

extension SegmentationUPID {
    fileprivate var isSupportedByThreefive: Bool {
        if case .multiple(let members) = value { return members.allSatisfy(\.isSupportedByThreefive) }
        return ![.umid, .uuid].contains(type)
    }

    /// threefive writes numbers and registered identifiers as one hexadecimal number.
    fileprivate func add(_ name: String, _ fields: inout [String: String]) {
        switch value {
        case .none: break
        case .text(let text):
            let isBinary = [.isan, .shortISAN, .eidr].contains(type)
            fields[name] = isBinary ? Comparable.trimmed(bytes) : text
        case .number: fields[name] = Comparable.trimmed(bytes)
        // User-defined identifiers of the tests are text.
        case .bytes(let bytes): fields[name] = String(decoding: bytes, as: UTF8.self)
        case .managedPrivate(let format, let bytes):
            fields[name + ".format_identifier"] = SpliceDescriptor.text(ofIdentifier: format)
            fields[name + ".private_data"] = Comparable.trimmed(bytes)
        case .atsc(let identifier):
            fields[name + ".TSID"] = String(identifier.transportStreamID)
            fields[name + ".end_of_day"] = String(identifier.endOfDay)
            fields[name + ".unique_for"] = String(identifier.uniqueFor)
            fields[name + ".content_id"] = String(decoding: identifier.contentID, as: UTF8.self)
        case .multiple(let members):
            for (index, member) in members.enumerated() {
                fields[name + ".\(index).upid_type"] = String(member.type.rawValue)
                fields[name + ".\(index).upid_length"] = String(member.bytes.count)
                member.add(name + ".\(index).segmentation_upid", &fields)
            }
        }
    }
}

extension SpliceDescriptor {
    fileprivate func add(_ index: String, _ fields: inout [String: String]) {
        fields[index + ".tag"] = String(tag)
        fields[index + ".identifier"] = identifierText
        fields[index + ".descriptor_length"] = String(length)
        switch content {
        case .avail(let identifier): fields[index + ".provider_avail_id"] = String(identifier)
        case .dtmf(let value):
            fields[index + ".preroll"] = String(value.preroll)
            fields[index + ".dtmf_count"] = String(value.tones.count)
            for (place, tone) in value.tones.enumerated() { fields[index + ".dtmf_chars.\(place)"] = String(tone) }
        case .time(let value):
            fields[index + ".tai_seconds"] = String(value.taiSeconds)
            fields[index + ".tai_ns"] = String(value.taiNanoseconds)
            fields[index + ".utc_offset"] = String(value.utcOffset)
        case .segmentation(let value): value.add(index, &fields)
        default: break
        }
    }
}

extension SegmentationDescriptor {
    fileprivate func add(_ index: String, _ fields: inout [String: String]) {
        fields[index + ".segmentation_event_id"] = String(eventID)
        fields[index + ".segmentation_event_cancel_indicator"] = "\(isCancelled)"
        fields[index + ".segmentation_event_id_compliance_indicator"] = "\(isEventIDCompliant)"
        fields[index + ".program_segmentation_flag"] = "\(isProgramSegmentation)"
        fields[index + ".segmentation_duration_flag"] = "\(duration != nil)"
        fields[index + ".delivery_not_restricted_flag"] = "\(restrictions == nil)"
        if let restrictions {
            fields[index + ".web_delivery_allowed_flag"] = "\(restrictions.isWebDeliveryAllowed)"
            fields[index + ".no_regional_blackout_flag"] = "\(restrictions.hasNoRegionalBlackout)"
            fields[index + ".archive_allowed_flag"] = "\(restrictions.isArchiveAllowed)"
            let groups = ["Restrict Group 0", "Restrict Group 1", "Restrict Group 2", "No Restrictions"]
            fields[index + ".device_restrictions"] = groups[Int(restrictions.deviceRestrictions)]
        }
        fields[index + ".segmentation_duration"] = duration.map { Comparable.seconds($0.seconds) }
        fields[index + ".segmentation_type_id"] = String(type.rawValue)
        fields[index + ".segmentation_upid_type"] = String(upid.type.rawValue)
        fields[index + ".segmentation_upid_length"] = String(upid.bytes.count)
        upid.add(index + ".segmentation_upid", &fields)
        fields[index + ".segment_num"] = String(segmentNumber)
        fields[index + ".segments_expected"] = String(segmentsExpected)
        fields[index + ".sub_segment_num"] = subSegment.map { String($0.number) }
        fields[index + ".sub_segments_expected"] = subSegment.map { String($0.expected) }
    }
}

/// The output of threefive as fields that can be compared.
private struct Comparable {
    /// Fields that only threefive has: names, notes and repetitions.
    private static let ignored: Set<String> = [
        "name", "table_id", "sap_details", "command_length", "command_type", "segmentation_message",
        "segmentation_upid_type_name", "upid_type_name", "reserved", "private_bytes", "descriptor_loop_length",
        "section_syntax_indicator", "private", "encrypted_packet", "encryption_algorithm",
    ]
    /// Numbers that threefive writes in hexadecimal.
    private static let hexadecimal: Set<String> = ["sap_type", "cw_index", "tier", "crc", "segmentation_event_id"]
    private static let times: Set<String> = ["pts_time", "pts_adjustment", "break_duration", "segmentation_duration"]

    private(set) var fields: [String: String] = [:]

    init(_ value: JSONValue) {
        guard let info = value["info_section"], let command = value["command"],
            case .array(let list) = value["descriptors"]
        else { return }
        add(info, "info")
        add(command, "command")
        for (index, descriptor) in list.enumerated() { add(descriptor, String(index)) }
    }

    private mutating func add(_ value: JSONValue, _ path: String) {
        let name = path.split(separator: ".").last.map(String.init) ?? ""
        switch value {
        case .object(let members):
            for (key, member) in members where !Self.ignored.contains(key) { add(member, path + "." + key) }
        case .array(let elements): for (index, element) in elements.enumerated() { add(element, path + ".\(index)") }
        case .bool(let truth): fields[path] = "\(truth)"
        case .int(let number): fields[path] = Self.times.contains(name) ? Self.seconds(Double(number)) : String(number)
        case .double(let number): fields[path] = Self.seconds(number)
        case .string(let text) where Self.hexadecimal.contains(name):
            fields[path] = Int(text.dropFirst(2), radix: 16).map(String.init) ?? text
        case .string(let text) where ["segmentation_upid", "private_data"].contains(name) && text.hasPrefix("0x"):
            fields[path] = "0x" + text.dropFirst(2).drop { $0 == "0" }
        case .string(let text) where !text.isEmpty: fields[path] = text
        default: break
        }
    }

    static func seconds(_ value: Double) -> String { String(Int((value * 1e6).rounded())) }

    /// The bytes as one hexadecimal number without zeros in front.
    static func trimmed(_ bytes: [UInt8]) -> String {
        "0x" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined().drop { $0 == "0" }
    }
}
