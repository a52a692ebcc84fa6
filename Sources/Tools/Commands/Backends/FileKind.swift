internal import InstrumentBackendKinds
internal import InstrumentBackends

extension BackendKind {
    static let file = BackendKind(
        "file",
        summary: "JSON lines in a file, compressed if PATH ends in .gz",
        address: .path,
        read: { $0 },
        make: { path, context in
            let limits = context.fileLimits
            var rotation = FileConfiguration.Rotation(maxBytes: limits.maxBytes.map { Int(clamping: $0) })
            // A file that is deleted after its time has to end before it.
            if let retention = limits.retention { rotation.maxAge = min(retention, .seconds(86_400)) }
            return try FileBackend(
                path: path,
                configuration: FileConfiguration(compression: .init(path: path), rotation: rotation)
            )
        }
    )
}
