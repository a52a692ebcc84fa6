/// The version of this library and of its command lines.
///
/// A recording names the version with each tracker's `TrackerInit` (``AttributeKey/instrumentVersion``), and requests
/// name it in `User-Agent`.
public enum InstrumentVersion {
    /// The version by Semantic Versioning 2.0.0, with the suffix `-dev` between two releases. On one line, because
    /// scripts read it.
    public static let current = "0.1.0-dev"

    /// The version of the Swift compiler that built the library.
    public static let compiler: String = {
        #if compiler(>=6.4)
        "6.4 or later"
        #elseif compiler(>=6.3.2)
        "6.3.2 or later"
        #elseif compiler(>=6.3.1)
        "6.3.1"
        #elseif compiler(>=6.3)
        "6.3"
        #elseif compiler(>=6.2)
        "6.2"
        #else
        "6.1"
        #endif
    }()

    /// The value of `User-Agent` (RFC 9110, section 10.1.5) for a product of this version.
    ///
    /// - Parameter product: a token without spaces, such as the name of a program.
    public static func userAgent(of product: String = "Instrument") -> String { "\(product)/\(current)" }
}
