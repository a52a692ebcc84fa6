public import Instrument
public import Logging

extension Logger {
    /// Logs a diagnostic at the level of its severity, with its parts as metadata.
    ///
    /// ```swift
    /// let logger = Logger(label: "player")
    /// let instrument = Instrument(hub: CoreHub(), backends: [backend], onDiagnostic: { logger.log($0) })
    /// ```
    ///
    /// Safe from any thread. Diagnostics carry no secrets and no attribute values.
    public func log(_ diagnostic: Diagnostic) {
        log(level: diagnostic.logLevel, "\(diagnostic)", metadata: diagnostic.metadata)
    }
}

extension Diagnostic {
    /// The severity: an error for lost samples, a warning if samples may be lost or a person has to act, a
    /// notice if the queue recovers automatically, debug for rejections by a hub.
    public var logLevel: Logger.Level {
        switch self {
        case .rejected: .debug
        case .retrying: .notice
        case .unknownTracker, .unknownContent, .duplicateBackend, .notFinite, .undeclared, .metricNotFinite, .store,
            .silenced:
            .warning
        case .notQueued, .dropped, .deadLetter: .error
        }
    }

    /// The backend of the diagnostic; nil if it concerns none.
    public var backend: BackendName? {
        switch self {
        case .duplicateBackend(let backend), .dropped(let backend, _, _), .deadLetter(let backend, _, _),
            .retrying(let backend, _, _),
            .silenced(let backend, _):
            backend
        default: nil
        }
    }

    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["kind": .string(kind)]
        if let backend { metadata["backend"] = .string(backend.description) }
        switch self {
        case .unknownTracker(let tracker, let action), .rejected(let action, let tracker, _),
            .notFinite(_, let action, let tracker):
            metadata["tracker"] = .stringConvertible(tracker)
            metadata["action"] = .stringConvertible(action)
        case .unknownContent(let content, let tracker):
            metadata["tracker"] = .stringConvertible(tracker)
            metadata["content"] = .stringConvertible(content)
        case .dropped(_, let count, let reason):
            metadata["count"] = .stringConvertible(count)
            metadata["reason"] = .string(reason.rawValue)
        case .deadLetter(_, let id, _): metadata["sample"] = .stringConvertible(id)
        default: break
        }
        return metadata
    }
}
