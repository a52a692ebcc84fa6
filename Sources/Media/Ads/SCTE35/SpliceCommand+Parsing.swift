extension SpliceCommand {
    init(_ type: UInt8, _ reader: inout BitReader, isLengthKnown: Bool) throws(SpliceError) {
        switch type {
        case 0x00: self = .null
        case 0x04: self = .schedule(try Self.schedule(&reader))
        case 0x05: self = .insert(try SpliceInsert(&reader))
        case 0x06: self = .timeSignal(try reader.spliceTime())
        case 0x07: self = .bandwidthReservation
        case 0xFF:
            let identifier: UInt32 = try reader.integer("identifier")
            self = .privateCommand(identifier: identifier, bytes: isLengthKnown ? reader.rest() : [])
        default:
            guard isLengthKnown else {
                throw SpliceError(.length, "a reserved command must state its length (found 0xfff)")
            }
            self = .reserved(type: type, bytes: reader.rest())
        }
    }

    private static func schedule(_ reader: inout BitReader) throws(SpliceError) -> [ScheduledSplice] {
        var splices: [ScheduledSplice] = []
        for _ in 0..<(try reader.number(8, "splice_count")) { splices.append(try ScheduledSplice(&reader)) }
        return splices
    }
}

extension SpliceInsert {
    init(_ reader: inout BitReader) throws(SpliceError) {
        self.init(eventID: try reader.integer("splice_event_id"))
        isCancelled = try reader.flag("splice_event_cancel_indicator")
        try reader.skip(7)
        if isCancelled { return }
        isOutOfNetwork = try reader.flag("out_of_network_indicator")
        isProgramSplice = try reader.flag("program_splice_flag")
        let hasDuration = try reader.flag("duration_flag")
        isImmediate = try reader.flag("splice_immediate_flag")
        isEventIDCompliant = try reader.flag("event_id_compliance_flag")
        try reader.skip(3)
        if isProgramSplice {
            if !isImmediate { time = try reader.spliceTime() }
        } else {
            for _ in 0..<(try reader.number(8, "component_count")) {
                let tag: UInt8 = try reader.integer("component_tag")
                components.append(Component(tag: tag, time: isImmediate ? nil : try reader.spliceTime()))
            }
        }
        if hasDuration { breakDuration = try reader.breakDuration() }
        uniqueProgramID = try reader.integer("unique_program_id")
        availNumber = try reader.integer("avail_num")
        availsExpected = try reader.integer("avails_expected")
    }
}

extension ScheduledSplice {
    init(_ reader: inout BitReader) throws(SpliceError) {
        self.init(eventID: try reader.integer("splice_event_id"))
        isCancelled = try reader.flag("splice_event_cancel_indicator")
        isEventIDCompliant = try reader.flag("event_id_compliance_flag")
        try reader.skip(6)
        if isCancelled { return }
        isOutOfNetwork = try reader.flag("out_of_network_indicator")
        isProgramSplice = try reader.flag("program_splice_flag")
        let hasDuration = try reader.flag("duration_flag")
        try reader.skip(5)
        if isProgramSplice {
            utcTime = try reader.integer("utc_splice_time")
        } else {
            for _ in 0..<(try reader.number(8, "component_count")) {
                let tag: UInt8 = try reader.integer("component_tag")
                components.append(Component(tag: tag, utcTime: try reader.integer("utc_splice_time")))
            }
        }
        if hasDuration { breakDuration = try reader.breakDuration() }
        uniqueProgramID = try reader.integer("unique_program_id")
        availNumber = try reader.integer("avail_num")
        availsExpected = try reader.integer("avails_expected")
    }
}

extension BitReader {
    /// `splice_time()` (SCTE 35, section 9.8.1); nil if no time is specified.
    fileprivate mutating func spliceTime() throws(SpliceError) -> SpliceTicks? {
        guard try flag("time_specified_flag") else {
            try skip(7)
            return nil
        }
        try skip(6)
        return SpliceTicks(try number(33, "pts_time"))
    }

    fileprivate mutating func breakDuration() throws(SpliceError) -> BreakDuration {
        let isAutoReturn = try flag("auto_return")
        try skip(6)
        return BreakDuration(isAutoReturn: isAutoReturn, duration: SpliceTicks(try number(33, "duration")))
    }
}
