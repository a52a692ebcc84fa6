internal import InstrumentWatch

extension MonitorModel {
    func writeIncidents(to writer: inout MetricsWriter) {
        writer.begin("instrument_monitor_incidents", .gauge, "Incidents that are not closed, by state.")
        let counts = Dictionary(grouping: book.open, by: \.state.name).mapValues(\.count)
        for state in ["open", "acknowledged", "silenced", "maintenance"] {
            writer.sample(Double(counts[state] ?? 0), MetricsWriter.labels([("state", state)]))
        }
        writer.begin("instrument_monitor_silences", .gauge, "Silences that have not ended.")
        writer.sample(Double(book.silences.count { $0.kind == .silence }), [])
        writer.begin("instrument_monitor_maintenance", .gauge, "Planned works that hide streams now.")
        writer.sample(Double(book.openWorks), [])
        objectives.write(configuration.objectives, to: &writer)
    }
}
