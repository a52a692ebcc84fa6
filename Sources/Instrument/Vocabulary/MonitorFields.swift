// What a monitor says of each sample: the stream of its configuration, the labels of that stream, and where the monitor
// is. All are our additions, and each is optional: `play` and `attach` send labels and a location without a stream.

extension AttributeKey where Value == String {
    /// The name of the stream in the monitor's configuration; every sample of a monitored stream has it.
    package static var monitorStream: Self { MonitorField.stream }
    /// Where the monitor is, in the words of its configuration.
    package static var monitorLocation: Self { MonitorField.location }
    /// The name of the profile of a headless player, in ``Action/mediaRequest`` alone: the first event of a playback.
    package static var playerProfile: Self { MonitorField.profile }
}

extension AttributeKey where Value == [String: String] {
    /// The labels of the stream, such as `cdn` and `channel`, by name: one attribute, so that no label can take the
    /// place of an attribute of the vocabulary.
    package static var monitorLabels: Self { MonitorField.labels }
}

/// The keys, created once: creating a key looks its name up in a table.
private enum MonitorField {
    static let stream = AttributeKey<String>("monitorStream")
    static let location = AttributeKey<String>("monitorLocation")
    static let labels = AttributeKey<[String: String]>("monitorLabels")
    static let profile = AttributeKey<String>("playerProfile")
}

extension AttributeName {
    /// Stream, labels and location of a monitor: what the metrics of an event carry, too (``CarryingMetricalc``).
    package static let ofMonitor = [MonitorField.stream.name, MonitorField.labels.name, MonitorField.location.name]
}

extension PrivacyCatalogue {
    /// The fields that say which monitored stream a sample is of. None is about a person.
    package static let monitor: PrivacyCatalogue = [
        FieldDeclaration(.monitorStream, "Name of the stream in the configuration", .otherDiagnosticData),
        FieldDeclaration(.monitorLabels, "Labels of the stream in the configuration", .otherDiagnosticData),
        FieldDeclaration(.monitorLocation, "Location of the monitor", .otherDiagnosticData),
        FieldDeclaration(.playerProfile, "Profile of the headless player", .otherDiagnosticData),
    ]
}

extension Attributes {
    /// The labels of ``AttributeKey/monitorLabels``, sorted by name. A recording may hold anything: a value that is not
    /// text has its description, an empty one is left out.
    package var monitorLabels: [(name: String, value: String)] {
        guard case .object(let labels)? = self[MonitorField.labels.name] else { return [] }
        return labels.sortedByBytes(of: \.key).compactMap { label in
            let value = label.value.description
            return label.key.isEmpty || value.isEmpty ? nil : (label.key, value)
        }
    }

    /// Each of ``monitorLabels`` as a separate attribute, for services whose attributes are flat.
    ///
    /// A label has its own name, or `label_` and its name where an attribute of the sample, of the vocabulary or of a
    /// mapping has that name: `cdn` stays `cdn`, and `title` becomes `label_title`.
    package var labelElements: [Element] {
        let labels = monitorLabels
        if labels.isEmpty { return [] }
        let others = Set(labels.map(\.name))
        return labels.map { label in
            var (spelling, name) = (label.name, AttributeName(label.name))
            while isTaken(name) || spelling != label.name && others.contains(spelling) {
                spelling = "label_" + spelling
                name = AttributeName(spelling)
            }
            return Element(name: name, value: .string(label.value))
        }
    }

    /// The attributes with each label as a separate attribute in place of ``AttributeKey/monitorLabels``.
    package var withFlatLabels: Attributes {
        guard has(MonitorField.labels.name) else { return self }
        var flat = self
        flat.remove(MonitorField.labels.name)
        for label in labelElements { flat.set(label.value, for: label.name) }
        return flat
    }

    /// Stream, location and labels, as attributes by which every value of a monitor can be grouped.
    package var monitorElements: [Element] {
        let names = [MonitorField.stream.name, MonitorField.location.name]
        return names.compactMap { name in self[name].map { Element(name: name, value: $0) } } + labelElements
    }

    /// Stream, location and labels, as the headers of a message.
    package var monitorHeaders: [(name: String, value: String)] {
        let parts = [("stream", self[.monitorStream]), ("location", self[.monitorLocation])]
        return parts.compactMap { name, value in value.map { (name, $0) } }
            + monitorLabels.map { ("label." + $0.name, $0.value) }
    }

    private func isTaken(_ name: AttributeName) -> Bool {
        name.number < AttributeName.vocabularyCount || Self.namesOfMappings.contains(name) || has(name)
    }

    /// The names that mappings give to parts of a sample, and the attributes beside the vocabulary that say whose a
    /// value is: a label has one name, whatever the sample and the service are.
    private static let namesOfMappings: Set<AttributeName> = [
        "_field", "_measurement", "action", "contentSenderId", "eventType", "kind", "metric", "metricKind",
        "metricUnit", "metricValue", "monitorLabels", "monitorLocation", "monitorStream", "name", "rate", "rendition",
        "sampleId", "sampleWeight", "time", "timestamp", "tracker", "type", "unit", "userId", "value",
    ]
}
