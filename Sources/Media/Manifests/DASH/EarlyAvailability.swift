internal import Instrument
internal import InstrumentText

/// When segments may be requested before they are complete (`@availabilityTimeOffset`, `@availabilityTimeComplete`;
/// ISO/IEC 23009-1 sections 5.3.9.5.3 and 5.6.4).
struct EarlyAvailability: Hashable, Sendable {
    /// The time before the end of a segment, in nanoseconds; nil for always (`INF`).
    var offset: Int64? = 0
    /// Whether a segment is complete when it is available; nil if not declared.
    var isComplete: Bool?

    /// Returns the availability with that of an inner level: the offsets add up.
    func adding(_ inner: EarlyAvailability) -> EarlyAvailability {
        let sum = offset.flatMap { outer in inner.offset.map { outer.saturatingAdd($0) } }
        return EarlyAvailability(offset: sum, isComplete: inner.isComplete ?? isComplete)
    }
}

extension EarlyAvailability {
    /// Reads the values of the attributes; nil for an absent one.
    init(offset: String?, isComplete: String?) {
        let text = offset?.trimmingWhitespace
        self.offset = text == "INF" ? nil : text.flatMap { DecimalText.nanoseconds($0) } ?? 0
        self.isComplete = isComplete.flatMap { Bool(schemaText: $0) }
    }
}

extension Bool {
    /// A value of the type `boolean` of XML Schema, part 2, section 3.2.2.
    init?(schemaText text: String) {
        switch text.trimmingWhitespace {
        case "true", "1": self = true
        case "false", "0": self = false
        default: return nil
        }
    }
}
