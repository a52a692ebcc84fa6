/// What trackers may collect, whichever they are: what the vocabulary and the app declare.
final class CommonFields: Sendable {
    /// Whether trackers may collect anything.
    let isOpen: Bool
    private let known: Lock<(names: NameSet, catalogue: PrivacyCatalogue)>
    private let report: @Sendable (AttributeName) -> Void

    /// Creates the fields of an instrument with these rules.
    ///
    /// - Parameter report: receives the name of each field that is left out, each time.
    init(_ privacy: PrivacyRules, report: @escaping @Sendable (AttributeName) -> Void) {
        isOpen = privacy.admission == .open
        let catalogue = privacy.ownCatalogue
        known = Lock((NameSet(catalogue.declarations.map(\.name) + [.service]), catalogue))
        self.report = report
    }

    /// The app declares these, too, from now on.
    func declare(_ fields: PrivacyCatalogue) {
        known.withLock { known in
            known.catalogue.merge(fields)
            for field in fields.declarations { known.names.insert(field.name) }
        }
    }

    /// Whether a field is declared, by itself or with the time attributes of all actions.
    fileprivate func contains(_ name: AttributeName) -> Bool {
        known.withLock { known in
            if known.names.contains(name.number) { return true }
            guard known.catalogue[name] != nil else { return false }
            known.names.insert(name)
            return true
        }
    }

    fileprivate func leftOut(_ name: AttributeName) { report(name) }
}

/// What one tracker may collect: what it declared itself, beside what all may.
struct CollectedFields: Sendable {
    private let own: NameSet
    private let common: CommonFields

    init(_ declared: PrivacyCatalogue, _ common: CommonFields) {
        own = NameSet(declared.fields.map(\.name))
        self.common = common
    }

    /// Whether the tracker may collect anything.
    var isOpen: Bool { common.isOpen }

    /// Whether the tracker declared this field itself.
    func isOwn(_ name: AttributeName) -> Bool { own.contains(name.number) }

    /// Whether it may collect this.
    func contains(_ name: AttributeName) -> Bool {
        name.number < AttributeName.vocabularyCount || own.contains(name.number) || isOpen || common.contains(name)
    }

    /// Whether it may; says so if it may not.
    func admits(_ name: AttributeName) -> Bool {
        if contains(name) { return true }
        common.leftOut(name)
        return false
    }

    /// Leaves out what it may not collect. Each event that a tracker emits passes here.
    @inline(__always)
    func filter(_ attributes: inout Attributes) {
        if isOpen || own.containsAll(of: attributes, from: AttributeName.vocabularyCount) { return }
        leaveOutUndeclared(of: &attributes)
    }

    @inline(never)
    private func leaveOutUndeclared(of attributes: inout Attributes) {
        let undeclared = attributes.withElements { elements in
            var names: [AttributeName] = []
            for index in 0..<elements.count where !contains(elements[index].name) { names.append(elements[index].name) }
            return names
        }
        for name in undeclared {
            attributes.remove(name)
            common.leftOut(name)
        }
    }

    /// Leaves out what it added to what was known before, and may not collect.
    func filter(_ attributes: inout Attributes, addedTo before: Attributes) {
        for name in attributes.map(\.name) where before[name] == nil && !admits(name) { attributes.remove(name) }
    }
}
