internal import Instrument
internal import InstrumentBackendKinds
internal import InstrumentCommandLine
internal import InstrumentTerminal
internal import InstrumentTransport

extension BackendContext {
    /// Creates the context of a backend whose messages and lines go to a terminal.
    init(
        for kind: BackendKind,
        credentials: BackendCredentials?,
        directory: String?,
        fileLimits: FileLimits = FileLimits(),
        terminal: Terminal
    ) {
        self.init(
            for: kind,
            credentials: credentials,
            directory: directory,
            fileLimits: fileLimits,
            transport: { try SystemTransport.ofProgram() },
            report: { terminal.note($0) },
            note: { terminal.note("player-monitor: \($0)") },
            write: { terminal.write(escaped: $0) }
        )
    }
}
