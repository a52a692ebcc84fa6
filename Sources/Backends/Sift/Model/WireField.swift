internal import Instrument
internal import InstrumentJSON
internal import InstrumentSensors

/// A field of a record as Sift names it: a ``RecordField`` with a name of Sift's and a profile. A record's list of
/// these is the one place that says how Sift writes and reads the record.
///
/// A value that cannot be written (nil, NaN, infinity, outside its range) is left out, and so is, in reading, a value
/// of another type: field by field.
struct WireField<Model>: Sendable {
    typealias Path<Value> = RecordField<Model>.Path<Value>

    let name: String
    /// Whether the field is sent in the profile `legacy` only.
    let isLegacy: Bool
    let write: @Sendable (Model, SiftProfile) -> JSONValue?
    let read: @Sendable (JSONValue, inout Model) -> Void

    init(_ field: RecordField<Model>, isLegacy: Bool) {
        self.init(
            field.name,
            isLegacy: isLegacy,
            writing: { model, _ in field.write(model).map { JSONValue($0) } },
            reading: { value, model in if let value = value.attributeValue { field.read(value, &model) } }
        )
    }

    private init(
        _ name: String,
        isLegacy: Bool,
        writing write: @escaping @Sendable (Model, SiftProfile) -> JSONValue?,
        reading read: @escaping @Sendable (JSONValue, inout Model) -> Void
    ) {
        self.name = name
        self.isLegacy = isLegacy
        self.write = write
        self.read = read
    }
}

extension WireField {
    static func text(_ name: String, _ path: Path<String>, legacy: Bool = false) -> Self {
        Self(.text(name, path), isLegacy: legacy)
    }

    static func integer(_ name: String, _ path: Path<Int>, legacy: Bool = false) -> Self {
        Self(.integer(name, path), isLegacy: legacy)
    }

    static func number(
        _ name: String,
        _ path: Path<Double>,
        within range: ClosedRange<Double> = -.infinity ... .infinity,
        legacy: Bool = false
    ) -> Self { Self(.number(name, path, within: range), isLegacy: legacy) }

    static func truth(_ name: String, _ path: Path<Bool>, legacy: Bool = false) -> Self {
        Self(.truth(name, path), isLegacy: legacy)
    }

    /// Milliseconds since 1970.
    static func time(_ name: String, _ path: Path<WallTime>, legacy: Bool = false) -> Self {
        Self(.time(name, path), isLegacy: legacy)
    }

    /// Three fields `<name>_x`, `<name>_y`, `<name>_z`.
    static func vector(_ name: String, _ path: any WritableKeyPath<Model, SensorVector> & Sendable) -> [Self] {
        RecordField.vector(name, path, unit: "", endings: ["_x", "_y", "_z"]).map { Self($0, isLegacy: false) }
    }

    /// Texts in order; in reading, elements that are not texts are left out.
    static func texts(_ name: String, _ path: Path<[String]>) -> Self {
        Self(
            name,
            isLegacy: false,
            writing: { model, _ in model[keyPath: path].map { .array($0.map { .string($0) }) } },
            reading: { value, model in model[keyPath: path] = value.elements?.compactMap(\.string) }
        )
    }

    /// One of a closed set of words, spelled as the prefix and the word with underscores: `faceUp` becomes `face_up`.
    static func word<Word: RawRepresentable<String> & CaseIterable & Hashable & Sendable>(
        _ name: String,
        _ path: Path<Word>,
        prefix: String,
        legacy: Bool = false
    ) -> Self {
        let spellings = Dictionary(uniqueKeysWithValues: Word.allCases.map { ($0, prefix + $0.rawValue.snakeCased) })
        let words = Dictionary(uniqueKeysWithValues: spellings.map { ($1, $0) })
        return Self(
            name,
            isLegacy: legacy,
            writing: { model, _ in model[keyPath: path].flatMap { spellings[$0] }.map { .string($0) } },
            reading: { value, model in model[keyPath: path] = value.string.flatMap { words[$0] } }
        )
    }

    static func object<Part: WireModel>(_ name: String, _ path: Path<Part>, legacy: Bool = false) -> Self {
        Self(
            name,
            isLegacy: legacy,
            writing: { model, profile in model[keyPath: path]?.json(profile) },
            reading: { value, model in model[keyPath: path] = Part(json: value) }
        )
    }

    /// Objects in order; an empty list is left out. Always of the profile `legacy`.
    static func objects<Part: WireModel>(_ name: String, _ path: Path<[Part]>) -> Self {
        Self(
            name,
            isLegacy: true,
            writing: { model, profile in
                guard let parts = model[keyPath: path], !parts.isEmpty else { return nil }
                return .array(parts.map { $0.json(profile) })
            },
            reading: { value, model in model[keyPath: path] = value.elements?.compactMap { Part(json: $0) } }
        )
    }
}

/// A part of an event that is an object of known fields.
protocol WireModel: Sendable {
    init()
    static var wireFields: [WireField<Self>] { get }
    /// The model without what may not be said because another reading in it says so.
    var sayable: Self { get }
}

extension WireModel {
    var sayable: Self { self }

    func json(_ profile: SiftProfile) -> JSONValue {
        let model = sayable
        var members: [String: JSONValue] = [:]
        for field in Self.wireFields where profile == .legacy || !field.isLegacy {
            members[field.name] = field.write(model, profile)
        }
        return .object(members)
    }

    /// Reads the members of the right type; nil if the value is no object.
    init?(json: JSONValue) {
        guard case .object(let members) = json else { return nil }
        self.init()
        for field in Self.wireFields {
            if let value = members[field.name] { field.read(value, &self) }
        }
    }
}

extension String {
    /// `portraitUpsideDown` as `portrait_upside_down`.
    fileprivate var snakeCased: String {
        reduce(into: "") { text, character in
            text += character.isUppercase ? "_" + character.lowercased() : String(character)
        }
    }
}
