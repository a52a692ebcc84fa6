internal import Foundation
internal import Instrument
internal import InstrumentBackendKinds
internal import InstrumentBackends
internal import InstrumentCommandLine
internal import InstrumentMonitorRuntime
internal import InstrumentText
internal import InstrumentTransport
internal import InstrumentWatch

/// Why the configured backends or receivers cannot be made.
struct WatchSetupError: Error, CustomStringConvertible {
    let description: String
}

/// Makes the backends and the receivers of alerts that a configuration names.
struct WatchBackends {
    let terminal: Terminal
    let transport: any HTTPTransport
    let routes: SampleRoutes
    /// The directory of the state; nil without one.
    let state: String?
    let isDryRun: Bool
    let refusesPrivateAddresses: Bool
    /// Knows which receivers do not get their messages.
    let health: ReceiverHealth
    /// Sends what fires again to receivers that forget it.
    let resender: MessageResender

    init(
        terminal: Terminal,
        transport: any HTTPTransport,
        routes: SampleRoutes,
        state: String?,
        isDryRun: Bool,
        refusesPrivateAddresses: Bool
    ) {
        (self.terminal, self.transport, self.routes) = (terminal, transport, routes)
        (self.state, self.isDryRun, self.refusesPrivateAddresses) = (state, isDryRun, refusesPrivateAddresses)
        health = ReceiverHealth()
        resender = MessageResender(health: health)
    }

    /// Makes the backends, or throws ``WatchSetupError`` for the first that cannot be made.
    func backends(of configuration: WatchConfiguration) throws(WatchSetupError) -> [any Backend] {
        var made: [any Backend] = []
        for (name, backend) in configuration.backends.sorted(by: { $0.key < $1.key }) {
            made.append(try self.backend(name, backend))
        }
        return made
    }

    func backend(_ name: String, _ configuration: BackendConfiguration) throws(WatchSetupError) -> any Backend {
        let base: any Backend
        do {
            base = try makeBase(configuration)
        } catch {
            throw WatchSetupError(
                description: "\(configuration.place): the backend `\(name)` cannot be made: \(error)"
            )
        }
        return RoutedBackend(base, name: name, routes: routes)
    }

    private func makeBase(_ configuration: BackendConfiguration) throws -> any Backend {
        let kind = configuration.backend.kind
        let credentials = configuration.credentials.flatMap { source in
            kind.credentials.map {
                BackendCredentials(source, namedBy: "`credentials`", form: $0.text, namesSource: true)
            }
        }
        return try configuration.backend.make(
            in: BackendContext(
                for: kind,
                credentials: credentials,
                directory: state,
                fileLimits: .init(maxBytes: configuration.rotation, retention: configuration.retention),
                terminal: terminal
            )
        )
    }

    /// The first line of a secret, without spaces at its ends.
    /// - Parameter subject: the secret, in an error.
    static func read(_ secret: SecretReference, _ subject: String) throws(WatchSetupError) -> String {
        let credentials = BackendCredentials(secret, namedBy: subject, form: "the secret", namesSource: true)
        let line = (try? credentials.text())?.split(whereSeparator: \.isNewline).first
        if let line, !line.isEmpty { return String(line.trimmingWhitespace) }
        let advice =
            switch secret {
            case .environment(let name): "set the environment variable \(name)"
            case .file(let path): "check that the file \(path) exists, is readable and has a text"
            }
        throw WatchSetupError(description: "\(subject) cannot be read: \(advice)")
    }
}

/// Deletes rotated files that are older than their backend keeps them.
struct FileRetention: Sendable {
    private let files: [(path: String, retention: Duration)]

    init(_ configuration: WatchConfiguration) {
        files = configuration.backends.values.compactMap { backend in
            guard let path = backend.backend.path, let retention = backend.retention else { return nil }
            return (path, retention)
        }
    }

    /// Deletes what is too old now; returns messages about files that could not be deleted.
    func sweep(now: Date = Date()) -> [String] {
        var problems: [String] = []
        for (path, retention) in files {
            let seconds = Double(retention.components.seconds)
            for rotated in FileBackend.rotatedPaths(of: path) {
                let attributes = try? FileManager.default.attributesOfItem(atPath: rotated)
                guard let written = attributes?[.modificationDate] as? Date, now.timeIntervalSince(written) > seconds
                else {
                    continue
                }
                do { try FileManager.default.removeItem(atPath: rotated) } catch {
                    problems.append("cannot delete \(rotated): \(error.localizedDescription)")
                }
            }
        }
        return problems
    }
}
