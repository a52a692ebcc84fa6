package import Instrument
internal import InstrumentHTTP
internal import InstrumentWatch

extension AlertEngine {
    /// Messages about everything that fires now for a receiver, for services that forget an alert unless it is sent
    /// again. Together, they list every stream.
    func firing(for receiver: String, at now: Timestamp) -> [AlertMessage] {
        let firing = instances.values.filter {
            $0.state == .firing && $0.isNotified && $0.alert.receivers.contains(receiver)
        }
        let groups = Dictionary(grouping: firing) {
            Group(alert: $0.alert.name, host: $0.stream.url.host, reason: $0.reason, isFiring: true)
        }
        return groups.flatMap { group, instances -> [AlertMessage] in
            let sorted = instances.sorted { $0.stream.name < $1.stream.name }
            return stride(from: 0, to: sorted.count, by: AlertMessage.mostStreams).compactMap {
                start -> AlertMessage? in
                let part = sorted[start..<min(start + AlertMessage.mostStreams, sorted.count)]
                guard let first = part.first else { return nil }
                var message = AlertMessage(alert: first.alert, host: group.host, reason: group.reason, isFiring: true)
                (message.kind, message.sent) = (.reminds, now.wallTime)
                for instance in part { message.add(instance) }
                message.seal()
                return message
            }
        }
    }
}

extension MonitorModel {
    /// Messages about everything that fires now for a receiver; together, they list every stream.
    package func firing(for receiver: String, at now: Timestamp) -> [AlertMessage] {
        engine.firing(for: receiver, at: now).map { message in
            var message = message
            message.link = configuration.address(ofIncident: message.incident)
            return message
        }
    }
}
