/// The command of a section (SCTE 35, section 9.7).
package enum SpliceCommand: Hashable, Sendable {
    /// `splice_null`: a heartbeat, or a carrier of descriptors.
    case null
    /// `splice_schedule`: splices in the future, in calendar time.
    case schedule([ScheduledSplice])
    /// `splice_insert`: one splice.
    case insert(SpliceInsert)
    /// `time_signal`: the time of the segmentation descriptors; nil for immediate.
    case timeSignal(SpliceTicks?)
    /// `bandwidth_reservation`: no content.
    case bandwidthReservation
    /// `private_command`: the identifier of its owner, and the content.
    case privateCommand(identifier: UInt32, bytes: [UInt8])
    /// A command that the standard reserves; its type and content.
    case reserved(type: UInt8, bytes: [UInt8])

    /// `splice_command_type`.
    package var type: UInt8 {
        switch self {
        case .null: 0x00
        case .schedule: 0x04
        case .insert: 0x05
        case .timeSignal: 0x06
        case .bandwidthReservation: 0x07
        case .privateCommand: 0xFF
        case .reserved(let type, _): type
        }
    }

    /// The name of the command in the standard.
    package var name: String {
        switch self {
        case .null: "splice_null"
        case .schedule: "splice_schedule"
        case .insert: "splice_insert"
        case .timeSignal: "time_signal"
        case .bandwidthReservation: "bandwidth_reservation"
        case .privateCommand: "private_command"
        case .reserved: "reserved"
        }
    }

    /// The time of the splice without the section's adjustment; nil for an immediate splice and other commands.
    package var time: SpliceTicks? {
        switch self {
        case .insert(let insert): insert.time ?? insert.components.lazy.compactMap(\.time).first
        case .timeSignal(let time): time
        default: nil
        }
    }
}

/// One splice at a time of the stream (SCTE 35, section 9.7.3).
package struct SpliceInsert: Hashable, Sendable {
    /// One component of a splice that does not affect the whole program.
    package struct Component: Hashable, Sendable {
        /// `component_tag`.
        package var tag: UInt8
        /// The time of the component's splice; nil for immediate or unspecified.
        package var time: SpliceTicks?
    }

    /// `splice_event_id`.
    package var eventID: UInt32
    /// `splice_event_cancel_indicator`: the event is cancelled, and all other properties are without meaning.
    package var isCancelled = false
    /// `out_of_network_indicator`: the splice leaves the network's feed. False: it returns.
    package var isOutOfNetwork = false
    /// `program_splice_flag`: all components splice at once.
    package var isProgramSplice = true
    /// `splice_immediate_flag`: the splice takes place at once.
    package var isImmediate = false
    /// The bit `event_id_compliance_flag`, which editions before 2022 reserve as 1.
    package var isEventIDCompliant = true
    /// The time of a program splice; nil if immediate or unspecified.
    package var time: SpliceTicks?
    /// The components of a component splice.
    package var components: [Component] = []
    /// `break_duration`; nil if the section has none.
    package var breakDuration: BreakDuration?
    /// `unique_program_id`.
    package var uniqueProgramID: UInt16 = 0
    /// `avail_num`.
    package var availNumber: UInt8 = 0
    /// `avails_expected`.
    package var availsExpected: UInt8 = 0

    /// Creates a splice of an event.
    package init(eventID: UInt32) { self.eventID = eventID }
}

/// The duration of a break (SCTE 35, section 9.8.2).
package struct BreakDuration: Hashable, Sendable {
    /// `auto_return`: the splicer returns to the network's feed by itself after the duration.
    package var isAutoReturn: Bool
    /// The duration.
    package var duration: SpliceTicks

    /// Creates a duration.
    package init(isAutoReturn: Bool, duration: SpliceTicks) {
        (self.isAutoReturn, self.duration) = (isAutoReturn, duration)
    }
}

/// One splice at a calendar time (SCTE 35, section 9.7.2).
package struct ScheduledSplice: Hashable, Sendable {
    /// One component of a splice that does not affect the whole program.
    package struct Component: Hashable, Sendable {
        /// `component_tag`.
        package var tag: UInt8
        /// `utc_splice_time`.
        package var utcTime: UInt32
    }

    /// `splice_event_id`.
    package var eventID: UInt32
    /// `splice_event_cancel_indicator`.
    package var isCancelled = false
    /// The bit `event_id_compliance_flag`, which editions before 2022 reserve as 1.
    package var isEventIDCompliant = true
    /// `out_of_network_indicator`.
    package var isOutOfNetwork = false
    /// `program_splice_flag`.
    package var isProgramSplice = true
    /// `utc_splice_time` of a program splice: seconds since 6 January 1980 00:00:00 UTC, leap seconds included.
    package var utcTime: UInt32?
    /// The components of a component splice.
    package var components: [Component] = []
    /// `break_duration`; nil if the splice has none.
    package var breakDuration: BreakDuration?
    /// `unique_program_id`.
    package var uniqueProgramID: UInt16 = 0
    /// `avail_num`.
    package var availNumber: UInt8 = 0
    /// `avails_expected`.
    package var availsExpected: UInt8 = 0

    /// Creates a splice of an event.
    package init(eventID: UInt32) { self.eventID = eventID }
}
