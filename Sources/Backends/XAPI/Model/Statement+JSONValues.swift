package import Instrument
internal import InstrumentJSON
internal import InstrumentText

extension IRI: JSONPart {
    var json: JSONValue { .string(description) }
    init?(checked json: JSONValue) {
        guard let text = json.string else { return nil }
        self.init(stringLiteral: text)
    }
}

extension LanguageMap: JSONPart {
    var json: JSONValue { .object(texts.mapValues(JSONValue.string)) }
    init?(checked json: JSONValue) {
        guard let members = json.members else { return nil }
        self.init(members.compactMapValues(\.string))
    }
}

extension ISODuration: JSONPart {
    var json: JSONValue { .string(description) }
    init?(checked json: JSONValue) {
        guard let text = json.string else { return nil }
        self.init(text)
    }
}

extension JSONValue {
    /// In lower case, as in RFC 9562: some LRSs compare identifiers as texts.
    static func id(_ id: SampleID) -> JSONValue { .string(id.wire) }
    static func time(_ time: WallTime) -> JSONValue { .string(time.rfc3339) }
    static func statementRef(_ id: SampleID) -> JSONValue { ["objectType": "StatementRef", "id": .id(id)] }
    static func extensions(_ values: Extensions) -> JSONValue {
        .object(Dictionary(values.map { ($0.key.description, $0.value) }) { first, _ in first })
    }

    var id: SampleID? { string.flatMap { SampleID($0) } }
    /// A time in the format of either version; a form that only one version allows has the same meaning in both.
    var time: WallTime? {
        string.flatMap { TimestampFormat.parse($0, version: .v1) ?? TimestampFormat.parse($0, version: .v2) }
    }
    var extensions: Extensions {
        Dictionary((members ?? [:]).map { (IRI(stringLiteral: $0.key), $0.value) }) { first, _ in first }
    }
}

extension SampleID {
    /// The identifier in the form that statements and queries use.
    package var wire: String { description.lowercased() }
}
