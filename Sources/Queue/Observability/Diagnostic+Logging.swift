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
    /// The level of the diagnostic's severity: an error for lost samples, a warning if samples may
    /// be lost or a person has to act, a notice if the queue recovers automatically, debug for rejections by a hub.
    public var logLevel: Logger.Level {
        switch severity {
        case .debug: .debug
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }

    var metadata: Logger.Metadata {
        let parts: [(String, String?)] = [
            ("kind", kind.description), ("backend", backend?.description), ("tracker", tracker?.description),
            ("content", content?.description), ("action", action?.description), ("metric", metric?.description),
            ("count", count.map(String.init)), ("reason", dropReason?.rawValue ?? rejection?.description),
            ("sample", sample?.description), ("alteration", alteration?.description),
        ]
        return parts.reduce(into: [:]) { metadata, part in
            if let text = part.1 { metadata[part.0] = .string(text) }
        }
    }
}
