internal import Instrument
internal import InstrumentBackendKinds
internal import InstrumentBackends
internal import InstrumentTerminal

extension BackendKind {
    static let console = BackendKind("console", summary: "readable lines on standard output", writesOutput: true) {
        ConsoleBackend(format: .text(colored: StandardOutput.isColored), write: $0.write)
    }

    static let json = BackendKind("json", summary: "JSON lines on standard output", writesOutput: true) {
        ConsoleBackend(name: "json", format: .jsonLines, write: $0.write)
    }
}
