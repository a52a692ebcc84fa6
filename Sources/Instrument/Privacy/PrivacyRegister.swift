internal import Synchronization

/// The register of privacy of a queue: every declared field, and the decisions which fields a tracker may collect and
/// which attributes the queue may store.
///
/// All declarations enter here, and both checks look here: ``CollectedFields`` for the fields of one tracker, and the
/// queue's `append` for all samples. Consent is part of the queue's state (``ConsentState``) instead, because an append
/// must read it under the lock that a change takes.
final class PrivacyRegister: Sendable {
    /// The app's rules.
    let rules: PrivacyRules
    /// Whether trackers may collect fields that nobody declares.
    let isOpenToTrackers: Bool
    /// Whether attributes change before they are stored.
    let hasFieldRules: Bool
    private let fields: Lock<FieldTable>
    /// Names with smaller numbers may all be stored, so that most samples pass without a lock.
    private let passingPrefix: Atomic<UInt32>
    private let report: @Sendable (Diagnostic) -> Void

    /// Creates a register with the fields of the vocabulary and of the app.
    ///
    /// - Parameter report: receives one diagnostic for each undeclared name.
    init(_ rules: PrivacyRules, report: @escaping @Sendable (Diagnostic) -> Void) {
        self.rules = rules
        self.report = report
        isOpenToTrackers = rules.admission == .open
        hasFieldRules = !rules.fields.isEmpty
        let table = FieldTable(rules)
        passingPrefix = Atomic(table.passingPrefix)
        fields = Lock(table)
    }

    /// All fields that are declared so far.
    var catalogue: PrivacyCatalogue { fields.withLock { $0.catalogue } }

    /// Declares fields of the app, which every tracker may collect.
    func declare(_ declared: PrivacyCatalogue) { if !declared.isEmpty { change { $0.declare(declared) } } }

    /// Declares the fields of a tracker; the app's declaration of the same field wins.
    func declare(collected declared: PrivacyCatalogue) {
        if !declared.isEmpty { change { $0.declare(collected: declared) } }
    }

    /// Reports a name that is left out because it is not declared, once for each name.
    func reportUndeclared(_ name: AttributeName) {
        if fields.withLock({ $0.isNews(name) }) { report(.undeclared(name)) }
    }

    private func change(_ body: (inout FieldTable) -> Void) {
        fields.withLock { table in
            body(&table)
            passingPrefix.store(table.passingPrefix, ordering: .releasing)
        }
    }
}

// MARK: The check of a tracker

extension PrivacyRegister {
    /// Whether every tracker may collect the field: the vocabulary or the app declares it.
    func isCommon(_ name: AttributeName) -> Bool { fields.withLock { $0.isCommon(name) } }
}

// MARK: The check of the queue

extension PrivacyRegister {
    /// Names with smaller numbers may all be stored.
    @inline(__always)
    var passingLimit: UInt32 { passingPrefix.load(ordering: .acquiring) }

    /// Whether the samples may be stored unchanged, before field rules.
    func admits(_ samples: [Sample]) -> Bool { fields.withLock { $0.admits(samples) } }

    /// The sample as it may be stored: without fields that are off or undeclared, and changed by the field rules.
    ///
    /// - Parameter isAdmitted: the result of ``admits(_:)``.
    func storable(_ sample: Sample, isAdmitted: Bool) -> Sample {
        rules.applied(to: isAdmitted ? sample : filtered(sample))
    }

    private func filtered(_ sample: Sample) -> Sample {
        var sample = sample
        let undeclared = fields.withLock { table in
            defer { passingPrefix.store(table.passingPrefix, ordering: .releasing) }
            return table.filter(&sample.attributes)
        }
        for name in undeclared { report(.undeclared(name)) }
        return sample
    }
}
