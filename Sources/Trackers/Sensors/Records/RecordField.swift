package import Instrument

/// A field of a record: its name, its kind, and how it is written and read.
public struct RecordField<Record>: Sendable {
    /// The kind of a field's value.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Text, or one of a closed set of words.
        case text
        /// A whole number.
        case integer
        /// A floating-point number.
        case number
        /// True or false.
        case truth
        /// Calendar time in milliseconds since 1970.
        case time
        /// Texts in order.
        case texts
        /// A record.
        case record
        /// Records in order.
        case records
    }

    package typealias Path<Value> = any WritableKeyPath<Record, Value?> & Sendable

    /// The name of the attribute, or of the member where the record is inside an attribute.
    package let name: String
    /// The kind of its value.
    package let kind: Kind
    /// The unit of a number; nil if it has none.
    package let unit: String?
    /// The declaration for the privacy catalogue; nil for a member of an object, which its attribute declares.
    package internal(set) var declaration: FieldDeclaration?
    /// The names of the members of a field with records.
    let members: [String]
    package let write: @Sendable (Record) -> AttributeValue?
    package let read: @Sendable (AttributeValue, inout Record) -> Void

    private init<Value>(
        _ name: String,
        _ kind: Kind,
        _ path: Path<Value>,
        unit: String? = nil,
        members: [String] = [],
        write: @escaping @Sendable (Value) -> AttributeValue?,
        read: @escaping @Sendable (AttributeValue) -> Value?
    ) {
        (self.name, self.kind, self.unit, self.members) = (name, kind, unit, members)
        self.write = { $0[keyPath: path].flatMap(write) }
        self.read = { value, record in record[keyPath: path] = read(value) }
    }

    private init(
        _ name: String,
        unit: String,
        write: @escaping @Sendable (Record) -> AttributeValue?,
        read: @escaping @Sendable (AttributeValue, inout Record) -> Void
    ) {
        (self.name, kind, self.unit, members) = (name, .number, unit, [])
        (self.write, self.read) = (write, read)
    }
}

extension RecordField {
    package static func text(_ name: String, _ path: Path<String>) -> Self { convertible(name, .text, path) }

    package static func word<Word: RawRepresentable<String> & AttributeValueConvertible>(
        _ name: String,
        _ path: Path<Word>
    ) -> Self { convertible(name, .text, path) }

    package static func integer(_ name: String, _ path: Path<Int>, unit: String? = nil) -> Self {
        convertible(name, .integer, path, unit: unit)
    }

    package static func truth(_ name: String, _ path: Path<Bool>) -> Self { convertible(name, .truth, path) }

    package static func texts(_ name: String, _ path: Path<[String]>) -> Self { convertible(name, .texts, path) }

    package static func record<Part: AttributeRecord>(_ name: String, _ path: Path<Part>) -> Self {
        convertible(name, .record, path, members: Part.fields.map(\.name))
    }

    package static func records<Part: AttributeRecord>(_ name: String, _ path: Path<[Part]>) -> Self {
        convertible(name, .records, path, members: Part.fields.map(\.name))
    }

    package static func number(
        _ name: String,
        _ path: Path<Double>,
        unit: String? = nil,
        within range: ClosedRange<Double> = -.infinity ... .infinity
    ) -> Self {
        let sayable: @Sendable (Double) -> Double? = { $0.isFinite && range.contains($0) ? $0 : nil }
        return Self(
            name,
            .number,
            path,
            unit: unit,
            write: { sayable($0).map { .double($0) } },
            read: { $0.number.flatMap(sayable) }
        )
    }

    package static func time(_ name: String, _ path: Path<WallTime>) -> Self {
        Self(
            name,
            .time,
            path,
            unit: "ms",
            write: { .int(Int(clamping: $0.milliseconds)) },
            read: { Int(attributeValue: $0).map { WallTime(milliseconds: Int64($0)) } }
        )
    }

    /// Three fields: the name followed by each of `endings`.
    package static func vector(
        _ name: String,
        _ path: any WritableKeyPath<Record, SensorVector> & Sendable,
        unit: String,
        endings: [String] = ["X", "Y", "Z"]
    ) -> [Self] {
        let components: [any WritableKeyPath<SensorVector, Double?> & Sendable] = [\.x, \.y, \.z]
        return zip(endings, components).map { axis, component in
            Self(
                name + axis,
                unit: unit,
                write: { record in
                    record[keyPath: path][keyPath: component].flatMap { $0.isFinite ? .double($0) : nil }
                },
                read: { value, record in record[keyPath: path][keyPath: component] = value.number }
            )
        }
    }

    private static func convertible<Value: AttributeValueConvertible>(
        _ name: String,
        _ kind: Kind,
        _ path: Path<Value>,
        unit: String? = nil,
        members: [String] = []
    ) -> Self {
        Self(
            name,
            kind,
            path,
            unit: unit,
            members: members,
            write: { $0.attributeValue },
            read: { Value(attributeValue: $0) }
        )
    }
}

extension AttributeValue {
    /// Returns the number, written as integer or floating point; nil for other values.
    fileprivate var number: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }
}
