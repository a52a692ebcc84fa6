/// How urgent an alert is.
package enum AlertSeverity: String, Hashable, Sendable, CaseIterable {
    /// Viewers are affected: somebody has to act now.
    case critical
    /// Somebody has to act during the day.
    case warning
    /// Nobody has to act.
    case info
}

extension AlertSeverity: Comparable {
    /// Whether an alert is less urgent than another one.
    package static func < (one: AlertSeverity, other: AlertSeverity) -> Bool { one.rank < other.rank }

    private var rank: Int {
        switch self {
        case .info: 0
        case .warning: 1
        case .critical: 2
        }
    }
}
