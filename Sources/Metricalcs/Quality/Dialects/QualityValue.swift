public import Instrument

/// The value of a quality metric for one session, or for an aggregate of sessions.
///
/// Values are exact wherever the definition is: times and counts are integers, ratios keep numerator and denominator.
/// Only formulas with roots and powers give a floating-point number, which has the same bits on every platform.
public enum QualityValue: Hashable, Sendable {
    /// A count, a time in milliseconds, or a rate in bit/s.
    case integer(Int)
    /// A fraction of two integers; the denominator is positive.
    case ratio(Ratio)
    /// The result of a formula.
    case real(Double)
    /// An integer for each label, for example milliseconds for each rendition.
    case labelled([String: Int])
    /// All observations of a session or of an aggregate.
    case distribution(Distribution)
    /// Structured data, for example the play list of 3GPP TS 26.247.
    case record(AttributeValue)

    /// The value as a number; nil for labelled values and records. A distribution gives its mean.
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .ratio(let ratio): ratio.double
        case .real(let value): value
        case .distribution(let distribution): distribution.mean
        case .labelled, .record: nil
        }
    }
}

/// A fraction of two integers.
public struct Ratio: Hashable, Sendable {
    /// The part.
    public let numerator: Int
    /// The whole; greater than zero.
    public let denominator: Int

    /// Nothing of something.
    package static let zero = Ratio()

    private init() { (numerator, denominator) = (0, 1) }

    /// Creates a fraction; nil if the denominator is not positive.
    public init?(_ numerator: Int, over denominator: Int) {
        guard denominator > 0 else { return nil }
        self.numerator = numerator
        self.denominator = denominator
    }

    /// The quotient, rounded once.
    public var double: Double { Double(numerator) / Double(denominator) }

    /// The quotient in millionths, rounded down; saturates at the ends of `Int`.
    package var millionths: Int { Int(clamping: (Int128(numerator) * 1_000_000).dividedDown(by: Int128(denominator))) }
}

extension Ratio: CustomStringConvertible {
    /// `numerator/denominator`.
    public var description: String { "\(numerator)/\(denominator)" }
}

extension Int {
    /// The product, which stops at the ends of the range.
    func scaled(by factor: Int) -> Int { saturatingMultiply(factor) }
}

extension Int128 {
    /// The quotient, rounded towards negative infinity; the divisor is positive.
    func dividedDown(by divisor: Int128) -> Int128 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
