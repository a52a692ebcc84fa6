public import Instrument

/// Shows what processes that are gone left in a durable queue's directory. Changes nothing, and creates no file in it.
///
/// ```swift
/// let reader = DurableQueueReader(directory: "/var/lib/my-app/queue")
/// for backend in reader.backends { print(backend, reader.ledger(of: backend).queued) }
/// ```
///
/// It sees what was there when it was created. Folders that a running process owns are left out, because that process alone
/// knows what is in them: ``QueueFolder`` tells which these are. Samples that a killed process had not copied to the disk are
/// not counted (usually none, at most 2 MiB): the next ``DurableStore`` finds them.
public struct DurableQueueReader: Sendable {
    private let stores: [DirectoryStore]
    /// The consent that the directory is under, as ``DurableStore/consent``. If it cannot be read, nobody has answered.
    public let consent: Consent

    /// Looks into a directory. May wait for the disk.
    ///
    /// - Parameters:
    ///   - directory: a durable store's directory, or one without a queue.
    ///   - report: receives what cannot be read, on the calling thread.
    public init(directory: String, report: @escaping @Sendable (Diagnostic) -> Void = { _ in }) {
        do throws(QueueError) { consent = try DurableStore.consent(of: directory) } catch {
            report(.store("\(error)"))
            consent = .pending
        }
        stores = QueueFolder.paths(in: directory).compactMap { path in
            DirectoryLock.isHeld(path) ? nil : DirectoryStore(viewing: path, report: report)
        }
    }

    /// The backends that have a place or sums, in the order of their names.
    public var backends: [BackendName] {
        Set(stores.flatMap(\.backendNames)).sorted().map { BackendName($0) }
    }

    /// Where a backend's samples are.
    public func ledger(of backend: BackendName) -> Ledger {
        stores.reduce(into: Ledger()) { $0.add($1.ledger(of: backend)) }
    }

    /// What waits for a backend.
    public func backlog(of backend: BackendName) -> Backlog {
        stores.reduce(into: Backlog()) { sum, store in
            let backlog = store.backlog(of: backend)
            sum.count += backlog.count
            sum.bytes += backlog.bytes
        }
    }

    /// What a backend will never take, the oldest first.
    public func deadLetters(of backend: BackendName) -> [DeadLetter] {
        stores.flatMap { $0.deadLetters(of: backend) }
    }

    /// What waits for a backend, the oldest first, at most a thousand samples at a time.
    public func queued(for backend: BackendName) -> some Sequence<[SampleRecord]> {
        stores.lazy.flatMap { $0.queued(for: backend) }
    }
}
