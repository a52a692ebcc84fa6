package import Instrument

/// Selects whole sessions of a recording: never a part of one, whose metrics would be wrong.
package struct SessionFilter: Sendable {
    /// The largest number of senders whose decision is remembered.
    private static let mostSenders = 100_000

    private struct Decision {
        var playbackId: String?
        var isSelected: Bool
    }

    private let since: WallTime?
    private let until: WallTime?
    private let identifiers: Set<String>
    private var decisions: [String: Decision] = [:]

    /// Creates a filter.
    ///
    /// - Parameters:
    ///   - since: selects sessions that begin at this time or later.
    ///   - until: selects sessions that begin before this time.
    ///   - identifiers: selects sessions with one of these as `playbackId` or `senderId`; empty selects all.
    package init(since: WallTime? = nil, until: WallTime? = nil, identifiers: Set<String> = []) {
        (self.since, self.until, self.identifiers) = (since, until, identifiers)
    }

    /// Whether the filter selects everything.
    package var isOpen: Bool { since == nil && until == nil && identifiers.isEmpty }

    /// Whether the sample belongs to a selected session. The first sample of a sender, or of its next playback, decides
    /// for all samples until the next playback. A tracker of ads follows the tracker of its content.
    package mutating func selects(_ sample: Sample) -> Bool {
        if isOpen { return true }
        let attributes = sample.attributes
        if attributes[.isAdsTracker] == true, let content = attributes["contentSenderId" as AttributeKey<String>] {
            return decisions[content]?.isSelected ?? false
        }
        let sender = attributes[.senderId] ?? "\(sample.tracker)"
        let playbackId = attributes[.playbackId]
        if let known = decisions[sender], playbackId == nil || known.playbackId == playbackId {
            return known.isSelected
        }
        if decisions.count > Self.mostSenders { decisions.removeAll() }
        let time = sample.time.wallTime.milliseconds
        let isInTime = time >= since?.milliseconds ?? .min && time < until?.milliseconds ?? .max
        let isSelected = isInTime && matches(attributes)
        decisions[sender] = Decision(playbackId: playbackId, isSelected: isSelected)
        return isSelected
    }

    private func matches(_ attributes: Attributes) -> Bool {
        if identifiers.isEmpty { return true }
        return [AttributeKey<String>.playbackId, .senderId].contains { key in
            attributes[key].map { identifiers.contains($0) } ?? false
        }
    }
}
