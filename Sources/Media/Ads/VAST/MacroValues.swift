package import Instrument
internal import InstrumentText

/// The values of the macros in an address (VAST 4.2, section 6).
///
/// A macro is written `[NAME]`, and by some ad servers `%%NAME%%`. A known macro without a value becomes `-1`, a macro
/// whose value is withheld becomes `-2`; a name that is not in the list stays as it is. Values are percent-encoded:
/// only the unreserved characters of RFC 3986 stay, and commas separate the encoded values of a list.
public struct MacroValues: Hashable, Sendable {
    /// The value of a macro.
    public enum Value: Hashable, Sendable {
        /// A value.
        case text(String)
        /// Values, separated by commas.
        case list([String])
        /// The value is known and must not be shared.
        case withheld
    }

    /// The values by name.
    package private(set) var values: [String: Value] = [:]

    /// Creates values from names and values.
    public init(_ values: [String: Value] = [:]) { self.values = values }

    /// The value of a macro; nil for a macro without a value.
    public subscript(name: String) -> Value? {
        get { values[name] }
        set { values[name] = newValue }
    }

    /// These values, and those of `others`, which win.
    package func merging(_ others: MacroValues) -> MacroValues {
        MacroValues(values.merging(others.values) { _, new in new })
    }

    /// The macros of VAST 3.0 to 4.3.
    static let known: Set<String> = [
        "TIMESTAMP", "CACHEBUSTING", "CONTENTPLAYHEAD", "MEDIAPLAYHEAD", "BREAKPOSITION", "BLOCKEDADCATEGORIES",
        "ADCATEGORIES", "ADCOUNT", "TRANSACTIONID", "PLACEMENTTYPE", "ADTYPE", "UNIVERSALADID", "BREAKMAXDURATION",
        "BREAKMINDURATION", "BREAKMAXADS", "BREAKMINADLENGTH", "BREAKMAXADLENGTH", "IFA", "IFATYPE", "CLIENTUA",
        "SERVERUA", "DEVICEUA", "SERVERSIDE", "DEVICEIP", "LATLONG", "DOMAIN", "PAGEURL", "APPBUNDLE", "VASTVERSIONS",
        "APIFRAMEWORKS", "EXTENSIONS", "VERIFICATIONVENDORS", "OMIDPARTNER", "MEDIAMIME", "PLAYERCAPABILITIES",
        "CLICKTYPE", "PLAYERSTATE", "INVENTORYSTATE", "PLAYERSIZE", "ADPLAYHEAD", "ASSETURI", "CONTENTID",
        "CONTENTURI", "PODSEQUENCE", "ADSERVINGID", "CLICKPOS", "ERRORCODE", "REASON", "LIMITADTRACKING", "REGULATIONS",
        "GDPRCONSENT", "STOREID", "STOREURL", "PLAYBACKMETHODS", "CONTENTCAT", "GPPSTRING", "GPPSECTIONID",
    ]

    /// The macros that carry identifiers or the location of a person, or of a person's device.
    package static let personal: Set<String> = [
        "IFA", "IFATYPE", "DEVICEIP", "DEVICEUA", "LATLONG", "TRANSACTIONID", "GDPRCONSENT", "GPPSTRING", "CLICKPOS",
        "PAGEURL", "CONTENTURI",
    ]

    /// The same values with those of `personal` withheld.
    package var withoutPersonalValues: MacroValues {
        var result = self
        for name in Self.personal where result.values[name] != nil { result.values[name] = .withheld }
        return result
    }
}

extension MacroValues {
    /// The address with its macros replaced.
    package func expand(_ url: AdURL) -> AdURL { AdURL(expand(url.secretText)) }

    /// The text with its macros replaced, in one pass; what a value contains is not replaced again.
    func expand(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "%") }) else { return text }
        var (result, rest) = ([UInt8](), Array(text.utf8)[...])
        result.reserveCapacity(rest.count)
        while let byte = rest.first {
            if let (name, length) = Self.macro(at: rest), let value = replacement(of: name) {
                result += Array(value.utf8)
                rest = rest.dropFirst(length)
            } else {
                result.append(byte)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The longest name of a macro, so that a text of brackets costs linear time.
    private static let longestName = 40

    private static func macro(at text: ArraySlice<UInt8>) -> (name: String, length: Int)? {
        if text.first == UInt8(ascii: "[") {
            return macro(in: text.dropFirst(), closedBy: [UInt8(ascii: "]")], markLength: 1)
        }
        guard text.starts(with: "%%".utf8) else { return nil }
        return macro(in: text.dropFirst(2), closedBy: Array("%%".utf8), markLength: 2)
    }

    private static func macro(
        in text: ArraySlice<UInt8>,
        closedBy mark: [UInt8],
        markLength: Int
    ) -> (name: String, length: Int)? {
        let name = text.prefix(longestName).prefix { 0x41...0x5A ~= $0 || $0.isDigit || $0 == UInt8(ascii: "_") }
        guard !name.isEmpty, text[name.endIndex...].starts(with: mark) else { return nil }
        return (String(decoding: name, as: UTF8.self), name.count + markLength + mark.count)
    }

    private func replacement(of name: String) -> String? {
        switch values[name] {
        case .text(let text): PercentCoding.encoded(text)
        case .list(let values): values.map { PercentCoding.encoded($0) }.joined(separator: ",")
        case .withheld: "-2"
        case nil: Self.known.contains(name) ? "-1" : nil
        }
    }
}

extension MacroValues {
    /// A value as an address carries it.
    static func encoded(_ text: String) -> String { PercentCoding.encoded(text) }

    /// The values that change with each call: TIMESTAMP and CACHEBUSTING.
    package static func perCall(now: WallTime, randomness: RandomSource) -> MacroValues {
        let number = 10_000_000 + randomness.next() % 90_000_000
        return MacroValues(["TIMESTAMP": .text(now.rfc3339), "CACHEBUSTING": .text(String(number))])
    }

    mutating func set(_ name: String, _ text: String?) {
        if let text { values[name] = .text(text) }
    }
}
