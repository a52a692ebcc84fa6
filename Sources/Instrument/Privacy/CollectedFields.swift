/// The fields that one tracker may collect: those that it declares, and those that the vocabulary and the app declare.
///
/// A view of the ``PrivacyRegister``: the tracker's names are cached as bits, because each event of a tracker is
/// checked; all else is looked up in the register.
struct CollectedFields: Sendable {
    private let own: NameSet
    private let register: PrivacyRegister

    /// Declares the tracker's fields in the register.
    init(declaring declared: PrivacyCatalogue, in register: PrivacyRegister) {
        own = NameSet(declared.declarations.map(\.name))
        self.register = register
        register.declare(collected: declared)
    }

    /// Declares again which of the tracker's own fields are on; passes over fields that it did not declare before.
    func redeclare(_ fields: PrivacyCatalogue) {
        register.declare(collected: PrivacyCatalogue(fields.declarations.filter { own.contains($0.name.number) }))
    }

    /// Whether the tracker may collect any field.
    var isOpen: Bool { register.isOpenToTrackers }

    /// Whether the tracker may collect the field.
    func contains(_ name: AttributeName) -> Bool {
        name.number < AttributeName.vocabularyCount || own.contains(name.number) || isOpen || register.isCommon(name)
    }

    /// Whether the tracker may collect the field; reports a field that it may not collect.
    func admits(_ name: AttributeName) -> Bool {
        if contains(name) { return true }
        register.reportUndeclared(name)
        return false
    }

    /// Removes the attributes that the tracker may not collect. Each event that a tracker emits passes here.
    @inline(__always)
    func filter(_ attributes: inout Attributes) {
        if isOpen || own.containsAll(of: attributes, from: AttributeName.vocabularyCount) { return }
        removeUndeclared(from: &attributes)
    }

    @inline(never)
    private func removeUndeclared(from attributes: inout Attributes) {
        let undeclared = attributes.withElements { elements in
            var names: [AttributeName] = []
            for index in 0..<elements.count where !contains(elements[index].name) { names.append(elements[index].name) }
            return names
        }
        for name in undeclared {
            attributes.remove(name)
            register.reportUndeclared(name)
        }
    }

    /// Removes the attributes that are not in `before` and that the tracker may not collect.
    func filter(_ attributes: inout Attributes, addedTo before: Attributes) {
        for name in attributes.map(\.name) where before[name] == nil && !admits(name) { attributes.remove(name) }
    }
}
