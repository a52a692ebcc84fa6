/// The rules of CTA-5004-B (version 2) and CTA-5004 (version 1) for each key.
struct CMCDSpecification: Sendable {
    /// The type of a value.
    enum Kind: Hashable, Sendable {
        case boolean, integer, decimal, string
        case token([String])
        /// Integers, each with an object type as its parameter or none.
        case integers
        case strings
        /// Strings with the parameter `r`.
        case paths
    }

    /// The largest number of characters of a custom key's value in version 2.
    static var customMaxLength: Int { 64 }

    let kind: Kind
    /// The header of request mode; nil for keys of event mode alone.
    let header: CMCDHeader?
    /// The largest number of characters of a string.
    var maxLength: Int?
    /// The step to which a number is rounded.
    var rounding = 1
    /// Whether version 2 recommends the rounding, and does not require it.
    var recommendsRounding = false
    /// The only event that may have the key.
    var event: CMCDEvent?
    /// The type in version 1; nil if version 1 does not have the key.
    var firstKind: Kind?
    var firstMaxLength: Int?

    /// The keys by name.
    static let keys: [String: CMCDSpecification] = {
        var keys: [String: CMCDSpecification] = [:]
        let bitrates: [(String, Bool)] = [
            ("ab", false), ("br", true), ("lab", false), ("lb", false), ("tab", false), ("tb", true), ("tpb", false),
        ]
        for (name, isFirst) in bitrates {
            keys[name] = Self(kind: .integers, header: .object, firstKind: isFirst ? .integer : nil)
        }
        keys["d"] = Self(kind: .integer, header: .object, firstKind: .integer)
        keys["ot"] = Self(
            kind: .token(CMCDObjectType.allCases.map(\.rawValue)),
            header: .object,
            firstKind: .token(CMCDObjectType.allCases.map(\.rawValue))
        )

        keys["bl"] = Self(
            kind: .integers,
            header: .request,
            rounding: 100,
            recommendsRounding: true,
            firstKind: .integer
        )
        keys["cs"] = Self(kind: .string, header: .request)
        keys["dfa"] = Self(kind: .integer, header: .request)
        keys["dl"] = Self(kind: .integer, header: .request, rounding: 100, firstKind: .integer)
        keys["ltc"] = Self(kind: .integer, header: .request)
        keys["mtp"] = Self(kind: .integers, header: .request, rounding: 100, firstKind: .integer)
        keys["nor"] = Self(kind: .paths, header: .request, firstKind: .string)
        keys["pb"] = Self(kind: .integers, header: .request)
        keys["sn"] = Self(kind: .integer, header: .request)
        keys["sta"] = Self(kind: .token(CMCDPlayerState.allCases.map(\.rawValue)), header: .request)
        keys["su"] = Self(kind: .boolean, header: .request, firstKind: .boolean)
        keys["tbl"] = Self(kind: .integers, header: .request, rounding: 100, recommendsRounding: true)

        keys["bg"] = Self(kind: .boolean, header: .status)
        keys["bs"] = Self(kind: .boolean, header: .status, firstKind: .boolean)
        for name in ["bsa", "bsd", "bsda"] { keys[name] = Self(kind: .integers, header: .status) }
        keys["ec"] = Self(kind: .strings, header: .status)
        keys["nr"] = Self(kind: .boolean, header: .status)
        keys["pr"] = Self(kind: .decimal, header: .status, firstKind: .decimal)
        keys["pt"] = Self(kind: .integer, header: .status)
        keys["rtp"] = Self(kind: .integer, header: .status, rounding: 100, firstKind: .integer)

        keys["cid"] = Self(kind: .string, header: .session, maxLength: 128, firstKind: .string, firstMaxLength: 64)
        keys["msd"] = Self(kind: .integer, header: .session)
        keys["sf"] = Self(
            kind: .token(["d", "h", "e", "s", "o"]),
            header: .session,
            firstKind: .token(["d", "h", "s", "o"])
        )
        keys["sid"] = Self(kind: .string, header: .session, maxLength: 64, firstKind: .string, firstMaxLength: 64)
        keys["st"] = Self(kind: .token(["v", "l", "ll"]), header: .session, firstKind: .token(["v", "l"]))
        keys["v"] = Self(kind: .integer, header: .session, firstKind: .integer)

        keys["cen"] = Self(kind: .string, header: nil, maxLength: 64, event: .custom)
        keys["e"] = Self(kind: .token(CMCDEvent.allCases.map(\.rawValue)), header: nil)
        keys["h"] = Self(kind: .string, header: nil, maxLength: 128)
        keys["ts"] = Self(kind: .integer, header: nil)
        for name in ["rc", "ttfb", "ttfbb", "ttlb"] {
            keys[name] = Self(kind: .integer, header: nil, event: .responseReceived)
        }
        for name in ["cmsdd", "cmsds", "smrt", "url"] {
            keys[name] = Self(kind: .string, header: nil, event: .responseReceived)
        }
        // Version 1 alone.
        keys["nrr"] = Self(kind: .string, header: nil, firstKind: .string)
        return keys
    }()

    /// The rules of parameters: none.
    static let ofParameters = Self(kind: .string, header: nil)

    /// In version 1 the keys of its header `CMCD-Status` are the same; `rtp` and `bs` alone stand there. `pr` is in the
    /// session.
    func header(inVersion version: Int, of name: String) -> CMCDHeader? {
        guard version == 1 else { return header }
        switch name {
        case "pr": return .session
        case "nrr": return .request
        default: return header
        }
    }

    /// The type of the value in a version; nil if the version does not have the key.
    func kind(inVersion version: Int, of name: String) -> Kind? {
        if version == 1 { return firstKind }
        return name == "nrr" ? nil : kind
    }
}

/// The header fields of request mode; keys are grouped by how often their values change.
public enum CMCDHeader: String, Hashable, Sendable, CaseIterable {
    /// Values of the requested object.
    case object = "CMCD-Object"
    /// Values that differ with each request.
    case request = "CMCD-Request"
    /// Values that stay for a session.
    case session = "CMCD-Session"
    /// Values that differ with some requests.
    case status = "CMCD-Status"
}
