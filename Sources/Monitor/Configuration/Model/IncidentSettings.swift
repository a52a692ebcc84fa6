internal import Instrument

/// How alerts become incidents and messages. The names of the keys are those of Alertmanager.
package struct IncidentSettings: Hashable, Sendable {
    /// A further receiver for an incident that nobody acknowledges.
    package struct EscalationStep: Hashable, Sendable {
        /// The time since the first message, or since the incident was released.
        package var after: Duration
        /// The names of the receivers.
        package var receivers: [String]

        /// Creates a step.
        package init(after: Duration, receivers: [String]) { (self.after, self.receivers) = (after, receivers) }
    }

    /// `group_by`: labels whose equal value makes streams with one fault one incident, beside the host.
    package var groupBy = ["cdn", "isp"]
    /// `group_wait`: how long the first message waits for further streams; nil for 10 s.
    package var groupWait: Duration?
    /// `group_interval`: the least time between two messages about further streams.
    package var groupInterval = Duration.seconds(300)
    /// `repeat_interval`: the time between two reminders of an incident that nobody has acknowledged.
    package var repeatInterval = Duration.seconds(4 * 3_600)
    /// `reopen`: the time after the end of an incident within which the same cause opens it again.
    package var reopen = Duration.seconds(900)
    /// `escalate`: further receivers, in the order of their times.
    package var escalation: [EscalationStep] = []
    /// Planned work, during which no messages are sent.
    package var maintenance: [MaintenanceWindow] = []

    /// Creates the standard settings.
    package init() {}
}
