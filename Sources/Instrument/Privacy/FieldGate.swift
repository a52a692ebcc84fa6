/// Looks at the names of a sample's attributes at the queue's door: which of them may pass.
///
/// Not `Sendable`; its owner has a lock.
struct FieldGate {
    private let admission: FieldAdmission
    private let choices: [AttributeName: Bool]
    private(set) var catalogue: PrivacyCatalogue
    /// What the app declared itself, which no tracker's declaration changes.
    private var ofApp: PrivacyCatalogue
    /// Names that may pass without a closer look.
    private var passing = NameSet()
    /// Whether a field is declared and off, or was chosen not to be collected.
    private var hasStopped: Bool
    private var reported: Set<AttributeName> = []
    private static var reportLimit: Int { 1000 }

    init(_ privacy: PrivacyRules) {
        admission = privacy.admission
        choices = privacy.choices
        hasStopped = choices.values.contains(false)
        ofApp = privacy.declared
        catalogue = privacy.ownCatalogue
        learn(catalogue)
        // Without the service's name, every service would receive the sample.
        passing.insert(.service)
        if catalogue[PrivacyCatalogue.timeSinceAction.name]?.isOn == true {
            let names = VocabularyAction.allCases.map { AttributeName(timeSince: $0) }
            for name in names where choices[name] ?? true { passing.insert(name) }
        }
    }

    /// How many names may pass, counted from the first one that was ever made until one that may not.
    var passingPrefix: UInt32 { isOpen ? .max : passing.prefixCount }

    /// Whether nothing is ever left out.
    private var isOpen: Bool { admission != .declaredOnly && !hasStopped }

    /// Knows these fields of the app, too, from now on.
    mutating func declare(_ fields: PrivacyCatalogue) {
        ofApp.merge(fields)
        catalogue.merge(fields)
        learn(fields)
    }

    /// Knows these fields that a tracker collects; where the app has said something else, that counts.
    mutating func declare(collected fields: PrivacyCatalogue) {
        let news = PrivacyCatalogue(fields.declarations.filter { ofApp[$0.name] == nil })
        catalogue.merge(news)
        learn(news)
    }

    /// Whether these may pass as they are.
    func admits(_ samples: [Sample]) -> Bool {
        if isOpen { return true }
        for sample in samples where !admits(sample.attributes) { return false }
        return true
    }

    private func admits(_ attributes: Attributes) -> Bool {
        attributes.withElements { elements in
            for index in 0..<elements.count where !passing.contains(elements[index].name.number) { return false }
            return true
        }
    }

    /// Takes out what may not pass; returns the names that are not declared and were not seen before.
    mutating func filter(_ attributes: inout Attributes) -> [AttributeName] {
        let isPayload = attributes[.service] != nil
        var news: [AttributeName] = []
        for name in attributes.map(\.name) where !passing.contains(name.number) {
            switch verdict(on: name) {
            case .passes: passing.insert(name)
            case .isUndeclared where isPayload: break
            case .isOff: attributes.remove(name)
            case .isUndeclared:
                attributes.remove(name)
                if isNews(name) { news.append(name) }
            }
        }
        return news
    }

    /// Whether it has not been said yet that this name is not declared.
    mutating func isNews(_ name: AttributeName) -> Bool {
        reported.count < Self.reportLimit && reported.insert(name).inserted
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
        for field in fields.declarations {
            if choices[field.name] ?? field.isOn { passing.insert(field.name) } else { stop(field.name) }
        }
    }

    private mutating func stop(_ name: AttributeName) {
        hasStopped = true
        passing.remove(name)
    }
}

extension PrivacyRules {
    /// What is declared before there is a tracker: the vocabulary, the app's own, and the attribute that names the
    /// person.
    var ownCatalogue: PrivacyCatalogue {
        let catalogue = PrivacyCatalogue.vocabulary.merging(declared)
        if catalogue[userIdKey.name] != nil { return catalogue }
        let person = FieldDeclaration(userIdKey, "The person, as the app names them", .userID, isLinked: true)
        return catalogue.merging([person])
    }
}
