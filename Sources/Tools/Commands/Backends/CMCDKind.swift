internal import InstrumentBackendKinds
internal import InstrumentCMCDBackend

extension BackendKind {
    static let cmcd = BackendKind("cmcd", summary: "collector of CMCD event reports") { url, context in
        try CMCDBackend(url, transport: try context.transport(), report: context.report)
    }
}
