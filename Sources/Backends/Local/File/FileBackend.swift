public import Instrument
internal import InstrumentCompression
internal import InstrumentText

/// Writes samples to a file, as JSON lines; ``SampleFileReader`` reads them back.
///
/// A batch is written completely or not at all, and counts as delivered once it is written. While the disk is
/// full or the directory is missing, samples stay in the queue, and writing resumes automatically. After a
/// crash a batch may be in the file twice, with the same identifiers: written, but not yet acknowledged. A file
/// or directory that was moved or deleted is created again, so that tools can rotate logs.
///
/// Opening a file removes the torn end that a crash left: the queue delivers that batch again. A file that is
/// damaged elsewhere is renamed, unchanged, under the next number. A file with other content or another
/// compression is refused and left unchanged. Symbolic links are followed; rotated files are placed beside the
/// target of the link.
public final class FileBackend: Backend {
    private struct State: ~Copyable {
        var file: SampleFile?
        var openedAt: MonotonicInstant
        var synchronizedAt: MonotonicInstant
    }

    /// The path of the file that is written to.
    public let path: String
    /// `file:` and the path.
    public let name: BackendName
    /// The policy of the configuration.
    public var policy: DeliveryPolicy { configuration.policy }
    private let configuration: FileConfiguration
    private let clock: any SchedulingClock
    private let calls: FileCalls
    private let encoder = LineEncoder()
    private let state: Lock<State>

    /// Opens the file, or creates it and its directory, readable only by the user.
    ///
    /// - Parameters:
    ///   - path: the current file; rotated files have a number before the extension.
    ///   - configuration: compression, rotation and synchronization.
    ///   - clock: measures the intervals of rotation and synchronization.
    public convenience init(
        path: String,
        configuration: FileConfiguration = FileConfiguration(),
        clock: any SchedulingClock = SystemClock()
    ) throws(FileBackendError) {
        try self.init(path: path, configuration: configuration, clock: clock, calls: FileCalls())
    }

    init(
        path: String,
        configuration: FileConfiguration,
        clock: any SchedulingClock,
        calls: FileCalls
    ) throws(FileBackendError) {
        self.path = path
        self.configuration = configuration
        self.clock = clock
        self.calls = calls
        name = BackendName("file:" + path)
        let file = try Self.openFile(path, configuration.compression, calls)
        state = Lock(State(file: file, openedAt: clock.now, synchronizedAt: clock.now))
    }

    /// Appends the batch.
    public func deliver(_ batch: Batch) async -> DeliveryOutcome {
        let lines = encoder.lines(of: batch.records[...])
        do throws(FileBackendError) {
            switch configuration.compression {
            case .none: try lines.bytes.withBytes { bytes throws(FileBackendError) in try append(bytes) }
            case .gzip:
                guard let packed = Gzip.compress(lines.bytes.bytes) else {
                    return .retry(after: nil, reason: "not enough memory for compression")
                }
                // The array's method knows no typed errors.
                try packed.withUnsafeBytes { bytes in
                    Result { () throws(FileBackendError) in try append(bytes) }
                }
                .get()
            }
            return .acknowledged
        } catch {
            return .retry(after: nil, reason: error.description)
        }
    }

    /// Closes the file.
    public func end() async {
        state.withLock { state in
            if configuration.synchronization != .never { try? state.file?.synchronize() }
            state.file = nil
        }
    }

    private func append(_ bytes: UnsafeRawBufferPointer) throws(FileBackendError) {
        try state.withLock { (state: inout State) throws(FileBackendError) in
            try openAnewIfGone(&state)
            try rotateIfDue(&state, adding: bytes.count)
            let isDue = isSynchronizationDue(state)
            try state.file?.append(bytes, synchronizing: isDue)
            if isDue { state.synchronizedAt = clock.now }
        }
    }

    private func openAnewIfGone(_ state: inout State) throws(FileBackendError) {
        if state.file?.isInPlace == true { return }
        try open(&state)
    }

    private func open(_ state: inout State) throws(FileBackendError) {
        state.file = nil
        state.file = try Self.openFile(path, configuration.compression, calls)
        state.openedAt = clock.now
    }

    private static func openFile(
        _ path: String,
        _ compression: FileConfiguration.Compression,
        _ calls: FileCalls
    ) throws(FileBackendError) -> SampleFile {
        do throws(FileBackendError) {
            return try SampleFile(opening: path, compression: compression, calls: calls)
        } catch {
            guard error.code == .damaged else { throw error }
            try RotatedFiles(of: SampleFile.resolve(path)).setAside()
            return try SampleFile(opening: path, compression: compression, calls: calls)
        }
    }

    private func rotateIfDue(_ state: inout State, adding count: Int) throws(FileBackendError) {
        let rotation = configuration.rotation
        let size = state.file?.size ?? 0
        if size == 0 { return }
        let isTooLarge = rotation.maxBytes.map { size + count > $0 } ?? false
        let isTooOld = rotation.maxAge.map { state.openedAt.duration(to: clock.now) >= $0 } ?? false
        guard isTooLarge || isTooOld else { return }
        if configuration.synchronization != .never { try state.file?.synchronize() }
        let files = RotatedFiles(of: SampleFile.resolve(path))
        try files.setAside()
        if let kept = rotation.keptFiles { files.keep(kept) }
        try open(&state)
    }

    private func isSynchronizationDue(_ state: borrowing State) -> Bool {
        switch configuration.synchronization {
        case .never: false
        case .everyBatch: true
        case .interval(let interval): state.synchronizedAt.duration(to: clock.now) >= interval
        }
    }
}

extension Backend where Self == FileBackend {
    /// A backend that writes JSON lines to a file, compressed if the path ends in `.gz`.
    ///
    /// ```swift
    /// let instrument = Instrument(backends: [.console, try .file("samples.ndjson.gz")])
    /// ```
    ///
    /// - Throws: ``FileBackendError`` if the file cannot be opened or created. The initializer of ``FileBackend`` has
    ///   rotation and synchronization, too.
    public static func file(_ path: String) throws(FileBackendError) -> FileBackend {
        try FileBackend(
            path: path,
            configuration: FileConfiguration(compression: FileConfiguration.Compression(path: path))
        )
    }
}
