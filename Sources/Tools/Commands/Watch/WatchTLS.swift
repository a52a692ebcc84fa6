internal import ArgumentParser
internal import Foundation
internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentMonitorRuntime
internal import InstrumentTerminal
internal import InstrumentWatch

/// The files of TLS of `--listen`: those of the command line, else those of the configuration. They are read again when
/// they change.
final class WatchTLS: Sendable {
    private struct State {
        var files: ServerCertificate
        /// The dates of the files when they were read.
        var seen: [String]
    }

    let identity: TLSIdentity
    private let command: WatchCommand
    private let log: WatchLog
    private let state: Lock<State>

    /// Reads the files; nil for a server without TLS. Exits with code 1 if they cannot be used.
    static func make(_ command: WatchCommand, _ configuration: WatchConfiguration, _ log: WatchLog) throws -> WatchTLS?
    {
        guard command.listen != nil, let files = files(command, configuration) else { return nil }
        do throws(TLSIdentity.Failure) { return try WatchTLS(command, files, log) } catch {
            log.terminal.note("player-monitor: \(error)")
            throw ExitCode(ExitStatus.failed.rawValue)
        }
    }

    private init(_ command: WatchCommand, _ files: ServerCertificate, _ log: WatchLog) throws(TLSIdentity.Failure) {
        let seen = Self.dates(files)
        identity = try TLSIdentity(certificate: files.certificate, key: files.key)
        (self.command, self.log, state) = (command, log, Lock(State(files: files, seen: seen)))
        if let warning = identity.warning { log.warning(warning) }
    }

    private static func files(_ command: WatchCommand, _ configuration: WatchConfiguration) -> ServerCertificate? {
        if let certificate = command.tlsCertificate, let key = command.tlsKey {
            return ServerCertificate(certificate: certificate, key: key)
        }
        return configuration.access.tls
    }

    /// Takes the files of a new configuration, and reads them again.
    func apply(_ configuration: WatchConfiguration) {
        if let files = Self.files(command, configuration) { state.withLock { $0.files = files } }
        reload(isForced: true)
    }

    /// Reads the files again if forced, or if one has changed. Files that cannot be used change nothing.
    func reload(isForced: Bool) {
        let files = state.withLock { $0.files }
        let dates = Self.dates(files)
        let isDue = state.withLock { state in
            defer { state.seen = dates }
            return isForced || state.seen != dates
        }
        guard isDue else { return }
        do throws(TLSIdentity.Failure) {
            try identity.reload(certificate: files.certificate, key: files.key)
            if !isForced { log.event("the certificate of --listen was read again") }
            if let warning = identity.warning { log.warning(warning) }
        } catch {
            log.warning("\(error); the server continues with the certificate that it has")
        }
    }

    private static func dates(_ files: ServerCertificate) -> [String] {
        [files.certificate, files.key].map { WatchReloader.date(of: $0) }
    }
}
