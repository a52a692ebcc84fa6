package import Instrument
internal import InstrumentHTTP
internal import InstrumentWatch

/// The states of alerts: pending, firing, resolved; and the messages about them, one for all streams with the same
/// reason.
///
/// An alert fires once its condition has held for its delay. A firing alert is resolved once its condition has not held
/// for the time that it keeps; an alert that fires often within an hour is kept longer, so that a stream that flaps
/// sends few messages.
package struct AlertEngine: Sendable {
    /// A change of an alert.
    package enum Change: Hashable, Sendable { case fires, resolves }

    struct Key: Hashable, Sendable {
        var alert: String
        var stream: String
    }

    struct Instance: Sendable {
        enum State: Hashable, Sendable { case pending, firing, resolved }

        var alert: AlertConfiguration
        var stream: WatchedStream
        var state = State.pending
        /// Since when the condition holds.
        var since: Timestamp
        /// Since when the condition of a firing alert does not hold.
        var clearSince: MonotonicInstant?
        /// Since when it is unknown whether the condition holds.
        var unknownSince: MonotonicInstant?
        var value: Double?
        var reason = ""
        var evidence: [LogEntry] = []
        /// Whether a message said that the alert fires.
        var isNotified = false
        /// The group whose message about its state is still to be made.
        var group: Group?
    }

    /// An alert that is shown.
    package struct Shown: Hashable, Sendable {
        package var alert: String
        package var stream: String
        package var isFiring: Bool
        package var since: WallTime
        package var value: Double?
        package var reason: String
        package var isFlapping: Bool
    }

    /// A group of alerts with one message.
    struct Group: Hashable, Sendable {
        var alert: String
        var host: String
        var reason: String
        var isFiring: Bool
    }

    /// Firing more often than this within ``flapWindow`` is flapping.
    static let mostFirings = 3
    static let flapWindow = Duration.seconds(3_600)
    /// How long the condition of a flapping alert must not hold.
    static let flapKeep = Duration.seconds(900)
    /// The shortest time for which a condition must not hold.
    static let shortestKeep = Duration.seconds(30)
    /// How long an alert keeps its state while a value is unknown, at least.
    static let longestUnknown = Duration.seconds(900)

    let groupDelay: Duration
    var instances: [Key: Instance] = [:]
    /// When alerts fired, for those that fired in the last hour.
    var firings: [Key: [MonotonicInstant]] = [:]
    private var groups: [Group: MonotonicInstant] = [:]
    private var groupKeys: [Group: Set<Key>] = [:]
    /// Messages that were made.
    package private(set) var messageCount = 0

    init(groupDelay: Duration) { self.groupDelay = groupDelay }

    var nextDeadline: MonotonicInstant? { groups.values.min() }

    package func isFiring(_ alert: String, of stream: String) -> Bool {
        instances[Key(alert: alert, stream: stream)]?.state == .firing
    }

    /// Takes the result of an evaluation.
    ///
    /// `holds` is nil if a value is unknown. That changes nothing, because the next session may show the value again,
    /// until the value has been unknown for `longestUnknown`: then the condition does not hold.
    mutating func observe(
        _ alert: AlertConfiguration,
        _ stream: WatchedStream,
        holds: Bool?,
        value: Double?,
        reason: String,
        longestUnknown: Duration,
        at now: Timestamp
    ) -> Change? {
        let key = Key(alert: alert.name, stream: stream.name)
        let isKnown = holds != nil
        guard let holds = holds ?? assumption(key, longestUnknown, at: now.instant) else { return nil }
        guard var instance = instances[key], instance.state != .resolved else {
            guard holds else { return nil }
            if instances[key]?.state == .resolved {
                // The message that the alert is resolved has not been sent: the alert fires on.
                return refire(key, value, at: now)
            }
            instances[key] = Instance(alert: alert, stream: stream, since: now, value: value, reason: reason)
            return fireIfDue(key, at: now)
        }
        (instance.alert, instance.stream) = (alert, stream)
        if holds {
            (instance.value, instance.clearSince, instance.unknownSince) = (value, nil, nil)
            if !instance.isNotified, !reason.isEmpty { instance.reason = reason }
            instances[key] = instance
            return fireIfDue(key, at: now)
        }
        if instance.state == .pending {
            instances[key] = nil
            return nil
        }
        let since = instance.clearSince ?? now.instant
        instance.clearSince = since
        if isKnown { instance.unknownSince = nil }
        instance.value = value ?? instance.value
        instances[key] = instance
        return since.duration(to: now.instant) >= keep(of: key, instance) ? resolve(key, at: now) : nil
    }

    /// What counts while a value is unknown: nothing at first, then that the condition does not hold.
    private mutating func assumption(_ key: Key, _ limit: Duration, at now: MonotonicInstant) -> Bool? {
        guard let instance = instances[key] else { return nil }
        let since = instance.unknownSince ?? now
        instances[key]?.unknownSince = since
        return since.duration(to: now) >= limit ? false : nil
    }

    /// Keeps the latest events of a stream for the message.
    mutating func attach(_ evidence: [LogEntry], _ alert: String, _ stream: String) {
        let key = Key(alert: alert, stream: stream)
        if instances[key]?.isNotified == false { instances[key]?.evidence = evidence }
    }

    private func keep(of key: Key, _ instance: Instance) -> Duration {
        let usual = instance.alert.keep ?? max(Self.shortestKeep, instance.alert.delay)
        return isFlapping(key) ? max(Self.flapKeep, usual) : usual
    }

    func isFlapping(_ key: Key) -> Bool { firings[key]?.count ?? 0 > Self.mostFirings }

    private mutating func fireIfDue(_ key: Key, at now: Timestamp) -> Change? {
        guard let instance = instances[key], instance.state == .pending,
            instance.since.instant.duration(to: now.instant) >= instance.alert.delay
        else { return nil }
        instances[key]?.state = .firing
        noteFiring(key, at: now.instant)
        wait(key, at: now.instant)
        return .fires
    }

    private mutating func refire(_ key: Key, _ value: Double?, at now: Timestamp) -> Change? {
        leaveGroup(key)
        instances[key]?.state = .firing
        instances[key]?.clearSince = nil
        instances[key]?.value = value
        noteFiring(key, at: now.instant)
        return .fires
    }

    private mutating func noteFiring(_ key: Key, at now: MonotonicInstant) {
        let recent = (firings[key] ?? []).filter { $0.duration(to: now) < Self.flapWindow }
        firings[key] = (recent + [now]).suffix(Self.mostFirings + 1)
        if firings.count > 2 * instances.count + 1_000 {
            firings = firings.filter { $0.value.last.map { $0.duration(to: now) < Self.flapWindow } ?? false }
        }
    }

    private mutating func resolve(_ key: Key, at now: Timestamp) -> Change? {
        guard let instance = instances[key] else { return nil }
        if !instance.isNotified {
            // Nobody knows that the alert fired: no message at all.
            leaveGroup(key)
            instances[key] = nil
            return .resolves
        }
        instances[key]?.state = .resolved
        wait(key, at: now.instant)
        return .resolves
    }

    /// Ends the alerts of streams and alerts that are no longer configured.
    mutating func keep(alerts: [AlertConfiguration], streams: Set<String>, at now: Timestamp) {
        let names = Set(alerts.map(\.name))
        for (key, instance) in instances where !names.contains(key.alert) || !streams.contains(key.stream) {
            if instance.state == .firing {
                _ = resolve(key, at: now)
            } else if instance.state == .pending {
                instances[key] = nil
            }
        }
    }

    // MARK: Messages

    private func group(of key: Key) -> Group? {
        instances[key].map { instance in
            Group(
                alert: key.alert,
                host: instance.stream.url.host,
                reason: instance.reason,
                isFiring: instance.state == .firing
            )
        }
    }

    private mutating func wait(_ key: Key, at now: MonotonicInstant) {
        guard let group = group(of: key) else { return }
        instances[key]?.group = group
        groupKeys[group, default: []].insert(key)
        if groups[group] == nil { groups[group] = now.advanced(by: groupDelay) }
    }

    mutating func restoreWait(_ key: Key, at now: MonotonicInstant) { wait(key, at: now) }

    private mutating func leaveGroup(_ key: Key) {
        guard let group = instances[key]?.group else { return }
        instances[key]?.group = nil
        groupKeys[group]?.remove(key)
        if groupKeys[group]?.isEmpty == true { (groupKeys[group], groups[group]) = (nil, nil) }
    }

    /// Makes the messages that are due.
    mutating func messages(at now: Timestamp) -> [AlertMessage] {
        let due = groups.filter { $0.value <= now.instant }.keys.sorted {
            ($0.alert, $0.host, $0.reason, $0.isFiring ? 0 : 1) < ($1.alert, $1.host, $1.reason, $1.isFiring ? 0 : 1)
        }
        return due.compactMap { group in
            groups[group] = nil
            let keys = groupKeys.removeValue(forKey: group) ?? []
            return message(group, keys.sorted { $0.stream < $1.stream }, at: now)
        }
    }

    private mutating func message(_ group: Group, _ keys: [Key], at now: Timestamp) -> AlertMessage? {
        guard let first = keys.first.flatMap({ instances[$0] }) else { return nil }
        var message = AlertMessage(alert: first.alert, host: group.host, reason: group.reason, isFiring: group.isFiring)
        message.sent = now.wallTime
        for key in keys {
            guard let instance = instances[key] else { continue }
            message.add(instance)
            if group.isFiring {
                instances[key]?.isNotified = true
                instances[key]?.group = nil
            } else {
                instances[key] = nil
            }
        }
        message.seal()
        messageCount += 1
        return message
    }

    var shown: [Shown] {
        instances.filter { $0.value.state != .resolved }.map { key, instance in
            Shown(
                alert: key.alert,
                stream: key.stream,
                isFiring: instance.state == .firing,
                since: instance.since.wallTime,
                value: instance.value,
                reason: instance.reason,
                isFlapping: isFlapping(key)
            )
        }.sorted { ($0.isFiring ? 0 : 1, $0.alert, $0.stream) < ($1.isFiring ? 0 : 1, $1.alert, $1.stream) }
    }
}
