package import InstrumentQuality
internal import InstrumentText

/// A session as a report shows it.
package struct ReportSession: Sendable {
    /// Identifies the session.
    package var key: SessionKey
    /// The title, as it was recorded: text from outside.
    package var title: String
    /// The address, as it was recorded: text from outside.
    package var source: String
    /// The stream, its labels, the location, the profile and the host.
    package var origin: SessionOrigin
    /// The time of the first event, in milliseconds since 1970.
    package var begin: Int64
    /// The length in milliseconds.
    package var length: Int
    /// The final state.
    package var outcome: SessionState
    /// The cause of the failure; nil for a session that did not fail.
    package var failure: FailureCause?
    /// Whether the media never started, and no error was the reason.
    package var isExitBeforeStart: Bool
    /// Whether the viewer left during a stall.
    package var isExitDuringRebuffer: Bool
    /// The value of each measure, in the order of ``Measure/all``.
    package var values: [Double?]
    /// The number of stalls.
    package var stallCount: Int
    /// The events that the session misses, in words; nil if it misses none.
    package var lostEvents: String?
    /// The course of the session.
    package var timeline: Timeline

    /// The conspicuous properties of a session, the most important first.
    var urgency: (Int, Double) {
        (urgencyClass, values[Measure.rebufferTime.position] ?? 0)
    }

    /// 2 for a failure, 1 for a person who left before the start or in a stall, 0 for any other session.
    var urgencyClass: Int {
        if failure != nil { return 2 }
        return isExitBeforeStart || isExitDuringRebuffer ? 1 : 0
    }

    /// The name for people: the stream's, else the title, else the address.
    var name: String { origin.stream ?? (title.isEmpty ? source : title) }

    /// The end of the session in words.
    var ending: String {
        if isExitBeforeStart { return "stopped before the start" }
        return isExitDuringRebuffer ? "stopped in a stall" : outcome.rawValue
    }
}

/// The cause of a failure: sessions that failed alike have equal ``general`` causes.
package struct FailureCause: Hashable, Sendable {
    /// Whether the media had started.
    package var hasStarted: Bool
    /// The error's code; nil if the player gave none. Text from outside.
    package var code: String?
    /// The status of the HTTP response; nil if the player gave none.
    package var status: Int?
    /// The error in words. Text from outside.
    package var description: String

    /// The cause that sessions which failed alike share: without numbers, identifiers and addresses.
    package var general: FailureCause {
        var cause = self
        cause.description = CauseText.general(description)
        return cause
    }
}

/// The course of a session. Times are milliseconds since the session's first event.
package struct Timeline: Sendable {
    /// A state and when it began.
    package struct Phase: Hashable, Sendable {
        package var state: SessionState
        package var begin: Int
        package var length: Int
    }
    /// A value that holds from a time on.
    package struct Point: Hashable, Sendable {
        package var time: Int
        package var value: Int
    }
    /// A request.
    package struct Request: Hashable, Sendable {
        package var time: Int
        /// Milliseconds until the end; nil if only the number of requests is known.
        package var length: Int?
        /// Requests that this entry stands for.
        package var count: Int
        package var failures: Int
    }

    /// The states, one after another.
    package var phases: [Phase] = []
    /// bit/s.
    package var bitrates: [Point] = []
    /// Milliseconds of media in the buffer.
    package var buffers: [Point] = []
    /// Milliseconds behind the live edge.
    package var latencies: [Point] = []
    /// Requests in the order of their beginnings.
    package var requests: [Request] = []
    /// Whether entries were left out or merged.
    package var isSimplified = false

    package init() {}
}
