/// The person whom each tracker's latest event names, so that an erasure finds the metrics of the event and the
/// tracker's last metrics.
package struct PersonTable: Sendable {
    private let key: AttributeKey<String>
    private var persons = TrackerTable<String?>()
    /// Whether any event has named a person.
    private var hasPersons = false

    /// Creates a table without trackers.
    ///
    /// - Parameter key: the attribute that names the person.
    package init(key: AttributeKey<String>) { self.key = key }

    /// Adds the event's person to its metrics.
    package mutating func name(_ metrics: inout [Metric], of event: Event) {
        // Nobody is named in most apps' events.
        if !hasPersons, !event.attributes.has(key.name) { return }
        let person = event.attributes[key]
        hasPersons = hasPersons || person != nil
        if person != persons[event.tracker, default: nil] { persons[event.tracker, default: nil] = person }
        Self.add(person, key, to: &metrics)
    }

    /// Adds the person of the latest event to the last metrics of a removed tracker, and forgets the tracker.
    package mutating func name(_ metrics: inout [Metric], ofRemoved tracker: TrackerID) {
        Self.add(persons[tracker, default: nil], key, to: &metrics)
        persons.remove(tracker)
    }

    private static func add(_ person: String?, _ key: AttributeKey<String>, to metrics: inout [Metric]) {
        guard let person else { return }
        for index in metrics.indices where metrics[index].attributes[key] == nil {
            metrics[index].attributes[key] = person
        }
    }
}
