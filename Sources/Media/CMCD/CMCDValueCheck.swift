internal import Instrument

/// Checks one value against the type and the limits of its key.
struct CMCDValueCheck {
    let key: String
    let found: String
    let rule: CMCDSpecification
    let version: Int

    func findings(of value: CMCDValue, _ kind: CMCDSpecification.Kind) -> [CMCDFinding] {
        switch (kind, value) {
        case (.boolean, .boolean): []
        case (.integer, .integer(let number)): number < 0 ? [negative] : rounding(number)
        case (.decimal, .decimal(let number)): number < 0 ? [negative] : []
        case (.decimal, .integer(let number)): number < 0 ? [negative] : []
        case (.string, .string(let text)): length(text) + (version == 1 ? firstVersion(text) : [])
        case (.token(let words), .token(let word)): words.contains(word) ? [] : [token(words)]
        case (.integers, .list(let elements)): list(elements, integer)
        case (.strings, .list(let elements)): list(elements, string)
        case (.paths, .list(let elements)): list(elements, path)
        default: [wrongType(value, expected: kind)]
        }
    }

    private var negative: CMCDFinding {
        CMCDFinding(.value, key, "the number must not be negative", found: found)
    }

    private func token(_ words: [String]) -> CMCDFinding {
        CMCDFinding(.value, key, "the value must be one of \(words.joined(separator: ", "))", found: found)
    }

    private func wrongType(_ value: CMCDValue, expected kind: CMCDSpecification.Kind) -> CMCDFinding {
        let expected =
            switch kind {
            case .boolean: "a boolean (the key alone, or ?0)"
            case .integer: "an integer"
            case .decimal: "a decimal"
            case .string: "a string in quotes"
            case .token: "a token without quotes"
            case .integers: "a list of integers, such as (5000;v 320;a)"
            case .strings: "a list of strings, such as (\"a\" \"b\")"
            case .paths: "a list of strings, such as (\"next.m4s\";r=\"0-99\")"
            }
        return CMCDFinding(.type, key, "the value must be \(expected), not \(value.kindName)", found: found)
    }

    private func rounding(_ number: Int) -> [CMCDFinding] {
        guard rule.rounding > 1, number % rule.rounding != 0 else { return [] }
        let isAdvice = version != 1 && rule.recommendsRounding
        let message = "the number \(isAdvice ? "should" : "must") be rounded to \(rule.rounding)"
        return [CMCDFinding(.rounding, key, message, found: "\(number)", severity: isAdvice ? .warning : .error)]
    }

    private func length(_ text: String) -> [CMCDFinding] {
        guard let limit = version == 1 ? rule.firstMaxLength : rule.maxLength, text.unicodeScalars.count > limit else {
            return []
        }
        let message = "the string must have at most \(limit) characters (it has \(text.unicodeScalars.count))"
        return [CMCDFinding(.length, key, message, found: text)]
    }

    /// What CTA-5004 says of the two strings that have a form: `nor`, a relative path that is URL-encoded, and `nrr`.
    private func firstVersion(_ text: String) -> [CMCDFinding] {
        switch key {
        case "nor":
            var findings: [CMCDFinding] = []
            let decoded = PercentCoding.strictlyDecoded(text)
            let path = decoded.map { String(decoding: $0, as: UTF8.self) } ?? text
            if decoded == nil || text.utf8.contains(where: { "/:?#[]@".utf8.contains($0) }) {
                let message = "the path must be percent-encoded, its slashes, too, such as ..%2Fnext.m4s"
                findings.append(CMCDFinding(.encoding, key, message, found: text))
            }
            if path.isEmpty || path.contains("://") || path.hasPrefix("//") {
                findings.append(CMCDFinding(.value, key, "the path must be relative to the request", found: path))
            }
            return findings
        case "nrr" where !Self.isRange(text):
            let message = "the value must be a byte range, such as \"0-99\", \"100-\" or \"-500\""
            return [CMCDFinding(.value, key, message, found: text)]
        default: return []
        }
    }

    // MARK: Lists

    private func list(
        _ elements: [CMCDValue.Element],
        _ check: (CMCDValue.Element) -> [CMCDFinding]
    ) -> [CMCDFinding] {
        if elements.isEmpty { return [CMCDFinding(.value, key, "the list must have an element", found: found)] }
        return elements.flatMap(check)
    }

    private func integer(_ element: CMCDValue.Element) -> [CMCDFinding] {
        guard case .integer(let number) = element.value else {
            return [
                CMCDFinding(.type, key, "an element must be an integer, not \(element.value.kindName)", found: found)
            ]
        }
        var findings = number < 0 ? [negative] : rounding(number)
        let types = CMCDObjectType.allCases.map(\.rawValue)
        for parameter in element.parameters where !types.contains(parameter.name) || parameter.value != .boolean(true) {
            let message = "a parameter must be an object type (\(types.joined(separator: ", ")))"
            findings.append(CMCDFinding(.value, key, message, found: parameter.name))
        }
        if element.parameters.count > 1 {
            findings.append(CMCDFinding(.value, key, "an element must have one object type", found: found))
        }
        return findings
    }

    private func string(_ element: CMCDValue.Element) -> [CMCDFinding] {
        if case .string = element.value { return [] }
        return [CMCDFinding(.type, key, "an element must be a string, not \(element.value.kindName)", found: found)]
    }

    private func path(_ element: CMCDValue.Element) -> [CMCDFinding] {
        guard case .string(let path) = element.value else { return string(element) }
        var findings: [CMCDFinding] = []
        if path.isEmpty || path.contains("://") {
            findings.append(CMCDFinding(.value, key, "the path must be relative to the request", found: path))
        }
        for parameter in element.parameters {
            guard parameter.name == "r", case .string(let range) = parameter.value, Self.isRange(range) else {
                let message = "the parameter must be a byte range, such as r=\"0-99\", r=\"100-\" or r=\"-500\""
                findings.append(CMCDFinding(.value, key, message, found: parameter.name))
                continue
            }
        }
        return findings
    }

    private static func isRange(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
            return false
        }
        if parts[0].isEmpty || parts[1].isEmpty { return parts[0].isEmpty != parts[1].isEmpty }
        guard let first = Int(parts[0]), let last = Int(parts[1]) else { return false }
        return first <= last
    }
}
