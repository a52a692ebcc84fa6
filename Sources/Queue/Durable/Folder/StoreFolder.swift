internal import Instrument

/// The folder of one process, and what every part of its store uses. It knows none of the parts.
final class StoreFolder: Sendable {
    let path: String
    let configuration: DurableConfiguration
    let bookkeeping: Bookkeeping
    let logNumber: UInt64
    let report: @Sendable (Diagnostic) -> Void
    /// The log, the staged samples and the backends' places. Held for a few instructions only, because `emit` takes it.
    let state: OrderedLock<FolderState>
    /// The lock by which this process owns the folder; nil for a folder that is only read, and after its release.
    let lock: OrderedLock<DirectoryLock?>

    init(
        path: String,
        configuration: DurableConfiguration,
        bookkeeping: Bookkeeping,
        logNumber: UInt64,
        state: OrderedLock<FolderState>,
        lock: OrderedLock<DirectoryLock?>,
        report: @escaping @Sendable (Diagnostic) -> Void
    ) {
        self.path = path
        self.configuration = configuration
        self.bookkeeping = bookkeeping
        self.logNumber = logNumber
        self.report = report
        self.state = state
        self.lock = lock
    }

    /// Whether the folder contains files from another folder and has that log's number. The store appends nothing to
    /// it.
    var isMoved: Bool { Directory.exists(path + "/" + FolderNames.moved) }

    /// Work that is repeated until it succeeds.
    enum Work {
        case saving, maintenance, draining, receipts
    }

    /// Reports a failure once, until the work succeeds or fails for another reason.
    func noteFailure(_ failure: String, of work: Work) {
        if state.withLock({ $0.failures.updateValue(failure, forKey: work) != failure }) { report(.store(failure)) }
    }

    func noteSuccess(of work: Work) { state.withLock { $0.failures[work] = nil } }

    /// Ends the use of a segment that was truncated from outside: a write to memory after the end of a file ends the
    /// process (SIGBUS).
    func leaveCutSegment() {
        let cut = state.withLock { state -> Segment? in
            guard let head = state.log.head?.segment, head.readableEnd(head.capacity) < head.capacity else {
                return nil
            }
            state.log.leaveHead()
            return head
        }
        if let cut { report(.store("\(cut.path) was truncated while in use: the samples behind its new end are lost")) }
    }
}
