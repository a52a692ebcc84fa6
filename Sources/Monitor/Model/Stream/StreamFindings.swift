package import Instrument
internal import InstrumentWatch

/// The rules and checks of pictures and sound that were broken in a stream, and since when; bounded.
package struct StreamFindings: Sendable {
    /// A rule or a check of pictures and sound.
    package struct Finding: Hashable, Sendable {
        /// Whether the rule counts as broken.
        package fileprivate(set) var isBroken: Bool
        /// Since when, or until when, the rule is broken.
        package fileprivate(set) var since: Timestamp
        /// When the rule was last seen broken.
        fileprivate var latest: MonotonicInstant
        /// How many rounds broke the rule.
        package fileprivate(set) var count: Int
        package fileprivate(set) var message: String
    }

    /// The number of rules of which a state is kept, and of those that survive a restart.
    private static let most = 200
    private static let mostSaved = 50

    private var findings: [String: Finding] = [:]

    /// The finding of a rule; nil for a rule that was never broken.
    package subscript(rule: String) -> Finding? { findings[rule] }

    package var isEmpty: Bool { findings.isEmpty }
    package var count: Int { findings.count }

    /// The findings in the order of their rules.
    var all: [(rule: String, finding: Finding)] {
        findings.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The rules that are broken, in their order.
    package var broken: [String] { findings.filter(\.value.isBroken).keys.sorted() }

    func isBroken(_ rule: String) -> Bool { findings[rule]?.isBroken ?? false }

    /// The number of rules that are broken, or were broken within a window.
    /// - Parameter rule: the only rule that counts; nil for all.
    func count(of rule: String?, within window: Duration?, at now: MonotonicInstant) -> Int {
        findings.count { name, finding in
            (rule == nil || rule == name)
                && (finding.isBroken || window.map { finding.latest.duration(to: now) < $0 } ?? false)
        }
    }

    // MARK: Changes

    /// Takes a rule that is broken now; returns its message if it begins to be broken, and nil otherwise.
    mutating func add(_ broken: CheckObservation.Broken, at now: Timestamp) -> String? {
        let message = String(broken.message.prefix(400))
        guard var known = findings[broken.rule] else {
            guard findings.count < Self.most else { return nil }
            findings[broken.rule] = Finding(
                isBroken: true,
                since: now,
                latest: now.instant,
                count: 1,
                message: message
            )
            return message
        }
        let wasBroken = known.isBroken
        if !wasBroken { known.since = now }
        (known.isBroken, known.latest, known.message) = (true, now.instant, message)
        known.count += 1
        findings[broken.rule] = known
        return wasBroken ? nil : message
    }

    /// Ends the findings of rules that were not seen broken for a time; returns the rules.
    /// - Parameter begin: when the session began; nil without one. A session that has just begun cannot know that a
    ///   rule is kept: some rules need reloads.
    mutating func end(unseenFor hold: Duration, since begin: MonotonicInstant?, at now: Timestamp) -> [String] {
        end(at: now) { _, finding in
            max(finding.latest, begin ?? finding.latest).duration(to: now.instant) >= hold
        }
    }

    /// Ends the findings of all rules but those; returns the rules.
    mutating func end(besides rules: Set<String>, at now: Timestamp) -> [String] {
        end(at: now) { rule, _ in !rules.contains(rule) }
    }

    private mutating func end(at now: Timestamp, where isOver: (String, Finding) -> Bool) -> [String] {
        var ended: [String] = []
        for (rule, finding) in findings where finding.isBroken && isOver(rule, finding) {
            findings[rule]?.isBroken = false
            findings[rule]?.since = now
            ended.append(rule)
        }
        return ended
    }

    // MARK: Causes

    private static let media = ["black": "Black picture", "freeze": "Frozen picture", "silence": "Silence"]
    private static let delivery = [
        "stale": "Playlist does not change", "mpd-stale": "Playlist does not change",
        "manifest-unavailable": "Playlists cannot be fetched", "segment-unavailable": "Segments cannot be fetched",
    ]

    /// The finding of a playlist that does not change; nil while it changes.
    var stale: Finding? { ["stale", "mpd-stale"].lazy.compactMap { findings[$0] }.first(where: \.isBroken) }

    /// The cause that the first broken rule is; nil without one. Faults that viewers see and hear come before rules,
    /// which may be broken for months.
    var cause: StreamCause? {
        if findings.isEmpty { return nil }
        let broken = findings.filter(\.value.isBroken)
        guard !broken.isEmpty else { return nil }
        let media = broken.filter { Self.media[$0.key] != nil }
        let first = (media.isEmpty ? broken : media).min {
            ($0.value.since.instant, $0.key) < ($1.value.since.instant, $1.key)
        }
        return first.map { Self.cause(of: $0.key, $0.value) }
    }

    /// The cause that a broken rule is, or what a check finds in the media.
    /// - Parameter rule: the only rule that is looked at; nil for the first one by name.
    func cause(of rule: String?) -> StreamCause? {
        let found = findings.filter { $0.value.isBroken && (rule == nil || rule == $0.key) }.min { $0.key < $1.key }
        return found.map { Self.cause(of: $0.key, $0.value) }
    }

    private static func cause(of rule: String, _ finding: Finding) -> StreamCause {
        let title = media[rule] ?? delivery[rule] ?? "Rule \(rule) is broken"
        var cause = StreamCause(.check, title, text: finding.message, since: finding.since.wallTime)
        cause.rule = rule
        return cause
    }

    // MARK: Restarts

    /// The findings that survive a restart: a bounded number, those that last first.
    func saved(of stream: String) -> [SavedMonitor.Finding] {
        let ordered = findings.sorted {
            ($0.value.isBroken ? 0 : 1, $0.value.since.wallTime, $0.key)
                < ($1.value.isBroken ? 0 : 1, $1.value.since.wallTime, $1.key)
        }
        return ordered.prefix(Self.mostSaved).map { rule, finding in
            SavedMonitor.Finding(
                stream: stream,
                rule: rule,
                isBroken: finding.isBroken,
                since: finding.since.wallTime,
                count: finding.count,
                message: finding.message
            )
        }
    }

    /// Takes a finding of an earlier process.
    mutating func restore(_ saved: SavedMonitor.Finding, at now: Timestamp) {
        guard findings.count < Self.mostSaved else { return }
        findings[saved.rule] = Finding(
            isBroken: saved.isBroken,
            since: now.at(saved.since),
            latest: now.instant,
            count: saved.count,
            message: saved.message
        )
    }
}
