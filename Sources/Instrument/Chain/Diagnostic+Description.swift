extension Diagnostic: CustomStringConvertible {
    /// A line for a log.
    public var description: String {
        switch fact {
        case .unknownTracker(let tracker, let action): "\(action) ignored: there is no tracker \(tracker)"
        case .unknownContent(let content, let tracker):
            "tracker \(tracker) reports ads of tracker \(content), which does not exist: add the content tracker first"
        case .duplicateBackend(let name):
            "backend \(name) not added: there is a backend with this name already; give each backend a different name"
        case .rejected(let action, let tracker, let reason): "\(action) of tracker \(tracker) rejected: \(reason)"
        case .notFinite(let names, let action, let tracker):
            "left out of \(action) of tracker \(tracker), not finite: \(names.map(\.spelling).joined(separator: ", "))"
        case .undeclared(let name):
            """
            left out \(name) from now on: it is not declared; declare it in the tracker's declaredFields, or with \
            PrivacyRules(declaring:)
            """
        case .metricNotFinite(let name, let tracker): "left out \(name) of tracker \(tracker): not finite"
        case .notQueued(let error): "not queued: \(error)"
        case .store(let text): "store: \(text)"
        case .dropped(let backend, let count, let reason): "dropped \(count) samples of backend \(backend): \(reason)"
        case .deadLetter(let backend, let id, let reason): "backend \(backend) will never take \(id): \(reason)"
        case .retrying(let backend, let delay, let reason):
            "the queue retries backend \(backend) in \(Self.rounded(delay)): \(reason)"
        case .silenced(let backend, let reason): "backend \(backend) is silent until the next start: \(reason)"
        case .altered(let backend, let alteration, let count): "backend \(backend) sent \(count) \(alteration)"
        case .remark(let remark): remark.message
        }
    }

    private static func rounded(_ delay: Duration) -> String {
        delay < .seconds(10) ? "\(delay.milliseconds) ms" : "\(delay.milliseconds / 1000) s"
    }
}
