internal import Instrument
internal import InstrumentText

/// A rule of CMCD that a report breaks.
package struct CMCDFinding: Hashable, Sendable, CustomStringConvertible {
    /// The kind of a rule; an open set.
    package struct Rule: Hashable, Sendable, CustomStringConvertible {
        /// The rule as a short text.
        package let description: String
        /// Creates a rule.
        package init(_ description: String) { self.description = description }

        /// The text is a dictionary of structured fields.
        package static let syntax = Rule("syntax")
        /// Percent-encoding of a query is complete and UTF-8.
        package static let encoding = Rule("encoding")
        /// A key is of the version, or a custom key with a hyphen.
        package static let key = Rule("key")
        /// A key occurs once.
        package static let duplicate = Rule("duplicate")
        /// Keys are in alphabetical order.
        package static let order = Rule("order")
        /// A value has the type of its key.
        package static let type = Rule("type")
        /// A value is one of the values that the key allows.
        package static let value = Rule("value")
        /// A string is no longer than allowed.
        package static let length = Rule("length")
        /// A number is rounded.
        package static let rounding = Rule("rounding")
        /// A key is of the mode, of the event or of the object type.
        package static let mode = Rule("mode")
        /// A key is in its header.
        package static let header = Rule("header")
        /// A report has the keys that its mode and its event require.
        package static let required = Rule("required")
        /// Sequence numbers of a session increase, and its start delay is reported once.
        package static let sequence = Rule("sequence")
    }

    /// Whether a report may break the rule.
    package enum Severity: String, Hashable, Sendable {
        /// The rule is a MUST: the report is invalid.
        case error
        /// The rule is a SHOULD: the report is valid.
        case warning
    }

    /// The rule.
    package var rule: Rule
    /// Whether a report may break the rule.
    package var severity = Severity.error
    /// The key; nil if the finding concerns no single key.
    package var key: String?
    /// The expected value and the remedy.
    package var message: String
    /// The value that was found.
    package var found: String

    init(_ rule: Rule, _ key: String?, _ message: String, found: String, severity: Severity = .error) {
        (self.rule, self.key, self.message, self.severity) = (rule, key, message, severity)
        self.found = found.excerpt(toBytes: 200)
    }

    /// Rule, key, message and the found value.
    package var description: String {
        "\(rule)" + (key.map { " \($0)" } ?? "") + ": \(message) (found '\(found)')"
    }
}

/// Checks reports against CTA-5004-B (version 2), or CTA-5004 if a report has no version.
package struct CMCDValidator: Sendable {
    /// How a report was transported.
    package enum Mode: String, Hashable, Sendable {
        /// As a query parameter of a request.
        case query
        /// As header fields of a request.
        case header
        /// As a record in the body of an event report.
        case event
    }

    /// The numbers of sessions, for rules about several event reports.
    private var lastNumbers: [String: Int] = [:]
    private var sessionsWithDelay: Set<String> = []

    /// Creates a validator; use one for all reports of a file.
    package init() {}

    /// The findings in the record of an event report.
    package mutating func findings(inEvent text: String) -> [CMCDFinding] {
        let (members, fault) = CMCDParser.read(text)
        // Version 1 has no event mode.
        var findings = check(members, .event, headers: nil, isComplete: fault == nil, version: 2)
        findings += syntax(fault)
        findings += sequence(members)
        return findings
    }

    /// The findings in the value of the query parameter, percent-encoded as it stands in the address.
    package func findings(inQuery value: String) -> [CMCDFinding] {
        guard let bytes = PercentCoding.strictlyDecoded(value), let text = String(validating: bytes) else {
            return [
                CMCDFinding(
                    .encoding,
                    nil,
                    "the parameter must be UTF-8 with '%' and two digits for each escape",
                    found: value
                )
            ]
        }
        let (members, fault) = CMCDParser.read(text)
        let version = fault == nil ? 1 : Self.version(inDamaged: [text])
        return check(members, .query, headers: nil, isComplete: fault == nil, version: version) + syntax(fault)
    }

    /// The findings in the header fields of one request.
    package func findings(inHeaders fields: [(header: CMCDHeader, value: String)]) -> [CMCDFinding] {
        var (members, headers, findings) = ([CMCDParser.Member](), [CMCDHeader](), [CMCDFinding]())
        for field in fields {
            let (some, fault) = CMCDParser.read(field.value)
            findings += order(some)
            members += some
            headers += some.map { _ in field.header }
            findings += syntax(fault)
        }
        let isComplete = !findings.contains { $0.rule == .syntax }
        let version = isComplete ? 1 : Self.version(inDamaged: fields.map(\.value))
        return check(members, .header, headers: headers, isComplete: isComplete, version: version) + findings
    }

    // MARK: One report

    private func syntax(_ fault: CMCDParser.Fault?) -> [CMCDFinding] {
        fault.map { [CMCDFinding(.syntax, $0.key, $0.message, found: $0.found)] } ?? []
    }

    /// The version of a report that could not be read to its end: what a piece between commas says, behind the fault,
    /// too. Without such a piece the version is 1, as of every report without a version (CTA-5004-B, Table 1).
    private static func version(inDamaged texts: [String]) -> Int {
        for text in texts {
            for piece in text.utf8.split(separator: UInt8(ascii: ",")) {
                let piece = String(Substring(piece)).trimmingWhitespace
                if piece.hasPrefix("v="), let number = Int(piece.dropFirst(2)) { return number }
            }
        }
        return 1
    }

    /// - Parameters:
    ///   - isComplete: whether the whole text could be read. Of a text that could not, the keys behind the fault are
    ///     not known.
    ///   - version: the version unless a key says another.
    private func check(
        _ members: [CMCDParser.Member],
        _ mode: Mode,
        headers: [CMCDHeader]?,
        isComplete: Bool,
        version: Int
    ) -> [CMCDFinding] {
        let values = Dictionary(members.map { ($0.key, $0.value) }) { _, last in last }
        var findings: [CMCDFinding] = []
        var version = version
        if case .integer(let number)? = values["v"] { version = number }
        if version != 1, version != 2 {
            findings.append(CMCDFinding(.value, "v", "the version must be 1 or 2", found: "\(version)"))
            version = 2
        }
        if headers == nil { findings += order(members) }
        var seen = Set<String>()
        for (index, member) in members.enumerated() {
            if !seen.insert(member.key).inserted {
                findings.append(CMCDFinding(.duplicate, member.key, "a key must occur once", found: member.found))
            }
            findings += check(member, version, mode, header: headers?[index], values)
        }
        if version == 2 { findings += aggregates(values) }
        if mode == .event, isComplete { findings += required(values) }
        return findings
    }

    /// Aggregate bitrates beside the bitrates of the same object type, which must replace them.
    private func aggregates(_ values: [String: CMCDValue]) -> [CMCDFinding] {
        [("ab", "br"), ("lab", "lb"), ("tab", "tb")].compactMap { aggregate, single in
            guard let types = values[aggregate]?.objectTypes, let known = values[single]?.objectTypes,
                !types.isDisjoint(with: known)
            else { return nil }
            let message = "the key must not be used where '\(single)' is known"
            return CMCDFinding(.mode, aggregate, message, found: "\(aggregate),\(single)")
        }
    }

    private func order(_ members: [CMCDParser.Member]) -> [CMCDFinding] {
        for (before, after) in zip(members, members.dropFirst()) where after.key.precedesInBytes(before.key) {
            // A SHOULD in all versions (CTA-5004-B, section 4.1, item 10).
            let message = "keys should be in alphabetical order; move '\(after.key)' in front of '\(before.key)'"
            return [CMCDFinding(.order, after.key, message, found: "\(before.key),\(after.key)", severity: .warning)]
        }
        return []
    }

    private func check(
        _ member: CMCDParser.Member,
        _ version: Int,
        _ mode: Mode,
        header: CMCDHeader?,
        _ values: [String: CMCDValue]
    ) -> [CMCDFinding] {
        let (key, found) = (member.key, member.found.isEmpty ? member.key : member.found)
        guard let rule = CMCDSpecification.keys[key], let kind = rule.kind(inVersion: version, of: key) else {
            if CMCDSpecification.keys[key] == nil, key.contains("-") { return custom(member, version) }
            let message =
                CMCDSpecification.keys[key] == nil
                ? "the key must be one of CTA-5004-B, or have a prefix with a hyphen"
                : "version \(version) does not have this key"
            return [CMCDFinding(.key, key, message, found: found)]
        }
        var findings = CMCDValueCheck(key: key, found: found, rule: rule, version: version).findings(
            of: member.value,
            kind
        )
        if mode != .event, rule.header(inVersion: version, of: key) == nil {
            findings.append(CMCDFinding(.mode, key, "the key must be used in event mode only", found: found))
        } else if let header, let right = rule.header(inVersion: version, of: key), right != header {
            findings.append(CMCDFinding(.header, key, "the key must be in \(right.rawValue)", found: header.rawValue))
        }
        if let event = rule.event, mode == .event, values["e"] != .token(event.rawValue) {
            findings.append(CMCDFinding(.mode, key, "the key must be used with e=\(event.rawValue) only", found: found))
        }
        if member.value == .boolean(true), !member.found.isEmpty {
            findings.append(CMCDFinding(.type, key, "a boolean that is true must be the key alone", found: found))
        }
        return version == 1 ? findings : findings + objectType(key, found, values)
    }

    /// Custom keys of version 2 have strings or tokens of 64 characters (CTA-5004-B, section 4.1, item 5).
    private func custom(_ member: CMCDParser.Member, _ version: Int) -> [CMCDFinding] {
        if version == 1 { return [] }
        let limit = CMCDSpecification.customMaxLength
        switch member.value {
        case .string(let text), .token(let text):
            let count = text.unicodeScalars.count
            if count <= limit { return [] }
            let message = "the value of a custom key must have at most \(limit) characters (it has \(count))"
            return [CMCDFinding(.length, member.key, message, found: text)]
        case let value:
            let message = "the value of a custom key must be a string or a token, not \(value.kindName)"
            return [CMCDFinding(.type, member.key, message, found: member.found.isEmpty ? member.key : member.found)]
        }
    }

    /// Keys that only media objects have.
    private func objectType(_ key: String, _ found: String, _ values: [String: CMCDValue]) -> [CMCDFinding] {
        let allowed: [String]
        switch key {
        case "d": allowed = ["a", "v", "av", "tt", "c", "o"]
        case "tpb": allowed = ["a", "v", "av", "c"]
        default: return []
        }
        guard case .token(let type)? = values["ot"], !allowed.contains(type) else { return [] }
        let message = "the key must be used with ot=\(allowed.joined(separator: ", ")) only (ot is \(type))"
        return [CMCDFinding(.mode, key, message, found: found)]
    }

    private func required(_ values: [String: CMCDValue]) -> [CMCDFinding] {
        var names = ["e", "ts", "v"].map { ($0, CMCDFinding.Severity.error) }
        let token = if case .token(let text)? = values["e"] { text } else { "" }
        let event = CMCDEvent(rawValue: token)
        if let key = event?.requiredKey { names.append((key.name, .error)) }
        if let key = event?.describedKey { names.append((key.name, .warning)) }
        return names.filter { values[$0.0] == nil }.map { name, severity in
            let event = token.isEmpty ? "an event" : "e=\(token)"
            let verb = severity == .error ? "must" : "should"
            let message = "a report of \(event) \(verb) have '\(name)'"
            return CMCDFinding(.required, name, message, found: "", severity: severity)
        }
    }

    // MARK: Several reports

    private mutating func sequence(_ members: [CMCDParser.Member]) -> [CMCDFinding] {
        let values = Dictionary(members.map { ($0.key, $0.value) }) { _, last in last }
        guard case .string(let session)? = values["sid"] else { return [] }
        var findings: [CMCDFinding] = []
        if case .integer(let number)? = values["sn"] {
            if let last = lastNumbers[session], number < last {
                let message = "sequence numbers of a session must increase (the number before is \(last))"
                findings.append(CMCDFinding(.sequence, "sn", message, found: "\(number)"))
            }
            lastNumbers[session] = max(number, lastNumbers[session] ?? number)
        }
        if case .integer(let delay)? = values["msd"], !sessionsWithDelay.insert(session).inserted {
            findings.append(
                CMCDFinding(.sequence, "msd", "the start delay must be reported once for a session", found: "\(delay)")
            )
        }
        return findings
    }
}

extension CMCDValue {
    /// The object types of a list's elements; an empty text for an element without a type. Nil for other values.
    fileprivate var objectTypes: Set<String>? {
        guard case .list(let elements) = self else { return nil }
        return Set(elements.map { $0.parameters.first?.name ?? "" })
    }
}

extension String {
    /// The text of bytes; nil if they are not UTF-8.
    fileprivate init?(validating bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes) else { return nil }
        self = text
    }
}
