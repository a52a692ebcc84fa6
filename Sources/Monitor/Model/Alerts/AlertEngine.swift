package import Instrument
internal import InstrumentWatch

/// The states of alerts: pending, then firing; ``IncidentBook`` groups those that fire, and makes the messages.
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
        enum State: Hashable, Sendable { case pending, firing }

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

    /// Firing more often than this within ``flapWindow`` is flapping.
    static let mostFirings = 3
    static let flapWindow = Duration.seconds(3_600)
    /// How long the condition of a flapping alert must not hold.
    static let flapKeep = Duration.seconds(900)
    /// The shortest time for which a condition must not hold.
    static let shortestKeep = Duration.seconds(30)
    /// How long an alert keeps its state while a value is unknown, at least.
    static let longestUnknown = Duration.seconds(900)

    var instances: [Key: Instance] = [:]
    /// When alerts fired, for those that fired in the last hour.
    var firings: [Key: [MonotonicInstant]] = [:]

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
        guard var instance = instances[key] else {
            guard holds else { return nil }
            instances[key] = Instance(alert: alert, stream: stream, since: now, value: value, reason: reason)
            return fireIfDue(key, at: now)
        }
        (instance.alert, instance.stream) = (alert, stream)
        if holds {
            (instance.value, instance.clearSince, instance.unknownSince) = (value, nil, nil)
            if instance.state == .pending, !reason.isEmpty { instance.reason = reason }
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
        guard since.duration(to: now.instant) >= keep(of: key, instance) else { return nil }
        instances[key] = nil
        return .resolves
    }

    /// What counts while a value is unknown: nothing at first, then that the condition does not hold.
    private mutating func assumption(_ key: Key, _ limit: Duration, at now: MonotonicInstant) -> Bool? {
        guard let instance = instances[key] else { return nil }
        let since = instance.unknownSince ?? now
        instances[key]?.unknownSince = since
        return since.duration(to: now) >= limit ? false : nil
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
        return .fires
    }

    private mutating func noteFiring(_ key: Key, at now: MonotonicInstant) {
        let recent = (firings[key] ?? []).filter { $0.duration(to: now) < Self.flapWindow }
        firings[key] = (recent + [now]).suffix(Self.mostFirings + 1)
        if firings.count > 2 * instances.count + 1_000 {
            firings = firings.filter { $0.value.last.map { $0.duration(to: now) < Self.flapWindow } ?? false }
        }
    }

    /// Ends the alerts that are no longer configured for their stream; returns those that fired.
    mutating func keep(where isConfigured: (Key) -> Bool) -> [Key] {
        let gone = instances.filter { !isConfigured($0.key) }
        for key in gone.keys { instances[key] = nil }
        return gone.filter { $0.value.state == .firing }.keys.sorted { ($0.stream, $0.alert) < ($1.stream, $1.alert) }
    }

    var shown: [Shown] {
        instances.map { key, instance in
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
