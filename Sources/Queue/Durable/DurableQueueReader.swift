public import Instrument

/// Reads the samples that ended processes left in a durable queue's directory. Changes and creates no file in it.
///
/// ```swift
/// let reader = DurableQueueReader(directory: "/var/lib/my-app/queue")
/// for backend in reader.backends { print(backend, reader.ledger(of: backend).queued) }
/// ```
///
/// The reader shows the state at its creation. It omits folders of running processes (`player-monitor queue status`
/// lists them), because only such a process knows their content. It does not count samples that a killed process had
/// not copied to the disk (usually none, at most 2 MiB); the next ``DurableStore`` finds them.
public struct DurableQueueReader: Sendable {
    private let folders: [FolderView]
    /// The consent of the directory, as ``DurableStore/consent``; pending if it cannot be read.
    public let consent: Consent

    /// Reads a directory. May wait for the disk.
    ///
    /// - Parameters:
    ///   - directory: a durable store's directory, or a directory without a queue.
    ///   - report: receives diagnostics about unreadable parts, on the calling thread.
    public init(directory: String, report: @escaping @Sendable (Diagnostic) -> Void = { _ in }) {
        do throws(QueueError) { consent = try DurableStore.consent(of: directory) } catch {
            report(.store("\(error)"))
            consent = .pending
        }
        var paths: [String] = []
        do throws(QueueError) { paths = try QueueFolder.paths(in: directory) } catch { report(.store("\(error)")) }
        folders = paths.compactMap { path in
            DirectoryLock.isHeld(path) ? nil : FolderView(viewing: path, report: report)
        }
    }

    /// The backends with a cursor or a ledger, sorted by name.
    public var backends: [BackendName] {
        Set(folders.flatMap(\.backendNames)).sorted().map { BackendName($0) }
    }

    /// Returns a backend's ledger.
    public func ledger(of backend: BackendName) -> Ledger {
        folders.reduce(into: Ledger()) { $0.add($1.ledger(of: backend)) }
    }

    /// Returns a backend's backlog.
    public func backlog(of backend: BackendName) -> Backlog { folders.backlog(of: backend) }

    /// Returns a backend's dead letters, the oldest first.
    public func deadLetters(of backend: BackendName) -> [DeadLetter] {
        folders.flatMap { $0.deadLetters($0.letters(of: backend) ?? []) }
    }

    /// Reads a backend's queued samples, the oldest first, at most a thousand samples at a time.
    public func queued(for backend: BackendName) -> some Sequence<[SampleRecord]> {
        folders.lazy.flatMap { $0.queued(for: backend) }
    }
}
