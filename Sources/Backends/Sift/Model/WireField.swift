internal import Instrument
internal import InstrumentJSON

/// How one field of a model is written and read. A model's list of these is the one place that names its fields.
///
/// What cannot be said (nil, NaN, infinity) is left out, and so is what is read and has another type: field by field.
struct WireField<Model>: Sendable {
    typealias Path<Value> = any WritableKeyPath<Model, Value?> & Sendable

    let name: String
    /// Whether it is sent in the profile `legacy` only.
    let isLegacy: Bool
    let write: @Sendable (Model, SiftProfile) -> JSONValue?
    let read: @Sendable (JSONValue, inout Model) -> Void

    init<Value>(
        _ name: String,
        _ path: Path<Value>,
        isLegacy: Bool,
        write: @escaping @Sendable (Value, SiftProfile) -> JSONValue?,
        read: @escaping @Sendable (JSONValue) -> Value?
    ) {
        self.name = name
        self.isLegacy = isLegacy
        self.write = { model, profile in model[keyPath: path].flatMap { write($0, profile) } }
        self.read = { value, model in model[keyPath: path] = read(value) }
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
        Self(name, path, isLegacy: legacy, write: { value, _ in .string(value) }, read: { $0.string })
    }

    static func integer(_ name: String, _ path: Path<Int>, legacy: Bool = false) -> Self {
        Self(name, path, isLegacy: legacy, write: { value, _ in .int(value) }, read: { $0.int })
    }

    static func number(
        _ name: String,
        _ path: Path<Double>,
        within range: ClosedRange<Double> = -.infinity ... .infinity,
        legacy: Bool = false
    ) -> Self {
        Self(
            name,
            path,
            isLegacy: legacy,
            write: { value, _ in value.isFinite && range.contains(value) ? .double(value) : nil },
            read: { $0.number.flatMap { range.contains($0) ? $0 : nil } }
        )
    }

    static func truth(_ name: String, _ path: Path<Bool>, legacy: Bool = false) -> Self {
        Self(name, path, isLegacy: legacy, write: { value, _ in .bool(value) }, read: { $0.truth })
    }

    static func texts(_ name: String, _ path: Path<[String]>) -> Self {
        Self(
            name,
            path,
            isLegacy: false,
            write: { values, _ in .array(values.map { .string($0) }) },
            read: { $0.elements?.compactMap(\.string) }
        )
    }

    /// Milliseconds since 1970.
    static func time(_ name: String, _ path: Path<WallTime>, legacy: Bool = false) -> Self {
        Self(
            name,
            path,
            isLegacy: legacy,
            write: { value, _ in .int(Int(clamping: value.milliseconds)) },
            read: { $0.int.map { WallTime(milliseconds: Int64($0)) } }
        )
    }

    /// One of a closed set of texts.
    static func word<Word: RawRepresentable<String> & Sendable>(
        _ name: String,
        _ path: Path<Word>,
        legacy: Bool = false
    ) -> Self {
        Self(
            name,
            path,
            isLegacy: legacy,
            write: { value, _ in .string(value.rawValue) },
            read: { $0.string.flatMap(Word.init(rawValue:)) }
        )
    }

    static func object<Part: WireModel>(_ name: String, _ path: Path<Part>, legacy: Bool = false) -> Self {
        Self(
            name,
            path,
            isLegacy: legacy,
            write: { value, profile in value.json(profile) },
            read: { Part(json: $0) }
        )
    }

    /// Objects in a row; left out if there are none. Always of the profile `legacy`.
    static func objects<Part: WireModel>(
        _ name: String,
        _ path: any WritableKeyPath<Model, [Part]> & Sendable
    ) -> Self {
        Self(
            name,
            isLegacy: true,
            writing: { model, profile in
                let parts = model[keyPath: path]
                return parts.isEmpty ? nil : .array(parts.map { $0.json(profile) })
            },
            reading: { value, model in model[keyPath: path] = value.elements?.compactMap { Part(json: $0) } ?? [] }
        )
    }

    /// Three fields `<name>_x`, `<name>_y`, `<name>_z`.
    static func vector(_ name: String, _ path: any WritableKeyPath<Model, SiftVector> & Sendable) -> [Self] {
        let components: [(String, any WritableKeyPath<SiftVector, Double?> & Sendable)] = [
            ("x", \.x), ("y", \.y), ("z", \.z),
        ]
        return components.map { axis, component in
            Self(
                name + "_" + axis,
                isLegacy: false,
                writing: { model, _ in
                    model[keyPath: path][keyPath: component].flatMap { $0.isFinite ? .double($0) : nil }
                },
                reading: { value, model in model[keyPath: path][keyPath: component] = value.number }
            )
        }
    }
}

/// A part of an event that is an object of known fields.
protocol WireModel: Sendable {
    init()
    static var fields: [WireField<Self>] { get }
    /// The model without what may not be said because another reading in it says so.
    var sayable: Self { get }
}

extension WireModel {
    var sayable: Self { self }

    func json(_ profile: SiftProfile) -> JSONValue {
        let model = sayable
        var members: [String: JSONValue] = [:]
        for field in Self.fields where profile == .legacy || !field.isLegacy {
            members[field.name] = field.write(model, profile)
        }
        return .object(members)
    }

    /// Reads what is of the right type; nil if it is no object.
    init?(json: JSONValue) {
        guard case .object(let members) = json else { return nil }
        self.init()
        for field in Self.fields {
            if let value = members[field.name] { field.read(value, &self) }
        }
    }
}

extension JSONValue {
    /// The number, whichever way it is written.
    var number: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }
    var truth: Bool? { if case .bool(let value) = self { value } else { nil } }
    var elements: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
}
