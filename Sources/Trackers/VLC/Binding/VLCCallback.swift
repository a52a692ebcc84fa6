internal import Instrument

/// Finds the inbox of a call of libVLC's by the token that the call carries.
///
/// The token is a number and no address: a call that comes after the end of its watch finds nothing, instead of memory
/// that is gone.
enum VLCCallback {
    private enum Entry {
        case open(VLCInbox, any SchedulingClock)
        /// The watch has ended; the first late call is reported.
        case closed(report: @Sendable (VLCDiagnostic) -> Void)
    }

    private struct Table {
        var entries: [UInt: Entry] = [:]
        /// The closed tokens, the oldest first.
        var closed: [UInt] = []
        var lastToken: UInt = 0
    }

    /// The number of ended watches that can still report a late call.
    private static let maxClosedCount = 64
    private static let table = Lock(Table())

    /// Returns the token of a new watch.
    static func open(_ inbox: VLCInbox, clock: any SchedulingClock) -> UInt {
        table.withLock { table in
            table.lastToken &+= 1
            table.entries[table.lastToken] = .open(inbox, clock)
            return table.lastToken
        }
    }

    /// Ends a watch: later calls are ignored, and the first of them is reported.
    static func close(_ token: UInt, report: @escaping @Sendable (VLCDiagnostic) -> Void) {
        table.withLock { table in
            guard case .open? = table.entries[token] else { return }
            table.entries[token] = .closed(report: report)
            table.closed.append(token)
            guard table.closed.count > maxClosedCount else { return }
            table.entries[table.closed.removeFirst()] = nil
        }
    }

    /// Takes a call of libVLC's, on libVLC's thread.
    static func take(_ kind: VLCEvent.Kind, token: UInt, thread: UInt) {
        let entry = table.withLock { table in
            defer {
                if case .closed? = table.entries[token] {
                    table.entries[token] = nil
                    table.closed.removeAll { $0 == token }
                }
            }
            return table.entries[token]
        }
        switch entry {
        case .open(let inbox, let clock)?:
            inbox.take(VLCEvent(kind: kind, instant: clock.now, thread: thread))
        case .closed(let report)?:
            report(VLCDiagnostic(.lateCall, "libVLC called back after the watch had ended; the call is ignored"))
        case nil: break
        }
    }
}
