/// Which fields a queue takes.
public enum FieldAdmission: String, Hashable, Sendable, CaseIterable {
    /// Those that are declared and on. What is not declared is left out of its sample, and reported once for each name.
    ///
    /// What an app hands to one service through that service's logger (``AttributeKey/addressee``) is no field that anybody
    /// collects but that service's payload: of it only what is declared and off is left out.
    case declaredOnly
    /// All but those that are declared and off.
    case open
}

/// Looks at the names of a sample's attributes: which of them may pass.
///
/// A bit for each interned name, so that a name costs a few instructions. Not `Sendable`; its owner has a lock.
struct FieldGate {
    private let admission: FieldAdmission
    private let choices: [AttributeName: Bool]
    private(set) var catalogue: PrivacyCatalogue
    /// For each name's number whether it may pass without a closer look.
    private var passing: [UInt64] = []
    /// Whether a field is declared and off, or was chosen not to be collected.
    private var hasStopped: Bool
    private var reported: Set<AttributeName> = []
    private static var reportLimit: Int { 1000 }

    init(_ privacy: PrivacyRules) {
        admission = privacy.admission
        choices = privacy.choices
        hasStopped = choices.values.contains(false)
        catalogue = .vocabulary.merging(privacy.declared)
        if catalogue[privacy.userIdKey.name] == nil {
            let person = FieldDeclaration(
                privacy.userIdKey,
                "The person, as the app names them",
                .userID,
                isLinked: true
            )
            catalogue.merge([person])
        }
        learn(catalogue)
        if catalogue[PrivacyCatalogue.timeSinceAction.name]?.isOn == true {
            let names = VocabularyAction.allCases.map { AttributeName(timeSince: $0) }
            for name in names where choices[name] ?? true { pass(name) }
        }
    }

    /// How many names may pass, counted from the first one that was ever made until one that may not.
    var passingPrefix: UInt32 {
        if isOpen { return .max }
        let whole = passing.prefix { $0 == .max }.count
        let rest = whole < passing.count ? (~passing[whole]).trailingZeroBitCount : 0
        return UInt32(clamping: whole * 64 + rest)
    }

    /// Whether nothing is ever left out.
    private var isOpen: Bool { admission == .open && !hasStopped }

    /// Knows these fields, too, from now on.
    mutating func declare(_ fields: PrivacyCatalogue) {
        catalogue.merge(fields)
        learn(fields)
    }

    /// Whether these may pass as they are.
    func admits(_ samples: [Sample]) -> Bool {
        if isOpen { return true }
        for sample in samples where !admits(sample.attributes) { return false }
        return true
    }

    private func admits(_ attributes: Attributes) -> Bool {
        attributes.withElements { elements in
            for index in 0..<elements.count where !isKnownToPass(elements[index].name.number) { return false }
            return true
        }
    }

    /// Takes out what may not pass; returns the names that are not declared and were not seen before.
    mutating func filter(_ attributes: inout Attributes) -> [AttributeName] {
        let isPayload = attributes[.addressee] != nil
        var news: [AttributeName] = []
        for name in attributes.map(\.name) where !isKnownToPass(name.number) {
            switch verdict(on: name) {
            case .passes: pass(name)
            case .isUndeclared where isPayload: break
            case .isOff: attributes.remove(name)
            case .isUndeclared:
                attributes.remove(name)
                if reported.count < Self.reportLimit, reported.insert(name).inserted { news.append(name) }
            }
        }
        return news
    }

    private enum Verdict { case passes, isOff, isUndeclared }

    private func verdict(on name: AttributeName) -> Verdict {
        guard let isOn = catalogue[name]?.isOn else {
            if admission == .declaredOnly { return .isUndeclared }
            return choices[name] ?? true ? .passes : .isOff
        }
        return choices[name] ?? isOn ? .passes : .isOff
    }

    private mutating func learn(_ fields: PrivacyCatalogue) {
        for field in fields.fields {
            if choices[field.name] ?? field.isOn { pass(field.name) } else { stop(field.name) }
        }
    }

    @inline(__always)
    private func isKnownToPass(_ number: UInt32) -> Bool {
        let word = Int(number >> 6)
        return word < passing.count && passing[word] & (1 << UInt64(number & 63)) != 0
    }

    private mutating func pass(_ name: AttributeName) {
        let word = Int(name.number >> 6)
        while passing.count <= word { passing.append(0) }
        passing[word] |= 1 << UInt64(name.number & 63)
    }

    private mutating func stop(_ name: AttributeName) {
        hasStopped = true
        let word = Int(name.number >> 6)
        if word < passing.count { passing[word] &= ~(1 << UInt64(name.number & 63)) }
    }
}
