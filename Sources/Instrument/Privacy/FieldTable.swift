/// The declared fields of a ``PrivacyRegister``: one catalogue, and a bit for each name that a check asks for.
struct FieldTable: Sendable {
    /// All declarations: of the vocabulary, of trackers, and of the app, whose declarations win.
    private(set) var catalogue: PrivacyCatalogue
    private let admission: FieldAdmission
    private let choices: [AttributeName: Bool]
    /// Names that the app declares; no tracker changes their declaration.
    private var ofApp: NameSet
    /// Names that every tracker may collect.
    private var common: NameSet
    /// Names that the queue may store.
    private var passing = NameSet()
    /// Whether a declared field is off, or a choice excludes a field.
    private var hasStopped: Bool
    private var reported: Set<AttributeName> = []
    private static var reportLimit: Int { 1000 }

    init(_ rules: PrivacyRules) {
        admission = rules.admission
        choices = rules.choices
        hasStopped = choices.values.contains(false)
        catalogue = rules.ownCatalogue
        ofApp = NameSet(rules.declared.declarations.map(\.name))
        // Without the service's name, every service would receive the sample.
        common = NameSet(catalogue.declarations.map(\.name) + [.service])
        learn(catalogue)
        passing.insert(.service)
        if catalogue[PrivacyCatalogue.timeSinceAction.name]?.isOn == true {
            let names = VocabularyAction.allCases.map { AttributeName(timeSince: $0) }
            for name in names where choices[name] ?? true { passing.insert(name) }
        }
    }

    /// Declares fields of the app.
    mutating func declare(_ fields: PrivacyCatalogue) {
        for field in fields.declarations {
            ofApp.insert(field.name)
            common.insert(field.name)
        }
        catalogue.merge(fields)
        learn(fields)
    }

    /// Declares fields of a tracker; the app's declaration of the same field wins.
    mutating func declare(collected fields: PrivacyCatalogue) {
        let news = PrivacyCatalogue(fields.declarations.filter { !ofApp.contains($0.name.number) })
        catalogue.merge(news)
        learn(news)
    }

    /// Whether every tracker may collect the field: by its name, or as a time attribute of an action.
    mutating func isCommon(_ name: AttributeName) -> Bool {
        if common.contains(name.number) { return true }
        guard PrivacyCatalogue.isTimeSinceAction(name) else { return false }
        common.insert(name)
        return true
    }

    /// The number of names that may be stored, counted from the first interned name to the first that may not.
    var passingPrefix: UInt32 { storesEverything ? .max : passing.prefixCount }

    private var storesEverything: Bool { admission != .declaredOnly && !hasStopped }

    /// Whether all attributes of the samples may be stored.
    func admits(_ samples: [Sample]) -> Bool {
        if storesEverything { return true }
        for sample in samples where !admits(sample.attributes) { return false }
        return true
    }

    private func admits(_ attributes: Attributes) -> Bool {
        attributes.withElements { elements in
            for index in 0..<elements.count where !passing.contains(elements[index].name.number) { return false }
            return true
        }
    }

    /// Removes the attributes that may not be stored; returns the undeclared names that were not reported before.
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

    /// Whether the name has not been reported as undeclared before; records that it has.
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
            if choices[field.name] ?? field.isOn {
                passing.insert(field.name)
            } else {
                hasStopped = true
                passing.remove(field.name)
            }
        }
    }
}

extension PrivacyRules {
    /// The declarations before a tracker is added: of the vocabulary, of the app, and of the attribute that names the
    /// person.
    fileprivate var ownCatalogue: PrivacyCatalogue {
        let catalogue = PrivacyCatalogue.vocabulary.merging(declared)
        if catalogue[userIdKey.name] != nil { return catalogue }
        let person = FieldDeclaration(userIdKey, "The person, as the app names them", .userID, isLinked: true)
        return catalogue.merging([person])
    }
}
