internal import Instrument
internal import InstrumentMonitor

/// Appends what is new of a history to its store, and writes the whole of it when that has become long, or when
/// something could not be kept.
final class HistoryKeeper: Sendable {
    private struct State {
        /// Nil until the store has the whole history.
        var mark: HistoryMark?
        var wholeCount = 0
        var appendedCount = 0
    }

    /// Less is appended before the whole is written again, than this number of bytes or a quarter of the whole.
    private static let mostAppended = 4 << 20

    private let store: any HistoryStore
    private let state = Lock(State())

    init(_ store: any HistoryStore) { self.store = store }

    /// Keeps the history of a model. Blocks; called for one model after another.
    func keep(_ model: MonitorModel, isLast: Bool, at now: WallTime) {
        var state = state.withLock { $0 }
        if let mark = state.mark, mark.holds(for: model), !isLast,
            state.appendedCount <= max(Self.mostAppended, state.wholeCount / 4)
        {
            let (bytes, next) = mark.news(of: model, at: now)
            state.mark = bytes.isEmpty || store.append(bytes) ? next : nil
            state.appendedCount += bytes.count
        } else {
            var (pieces, count) = (HistoryPieces(of: model, at: now), 0)
            let isKept = store.replace {
                let piece = pieces.next()
                count += piece?.count ?? 0
                return piece
            }
            state.mark = isKept ? pieces.mark : nil
            (state.wholeCount, state.appendedCount) = (count, 0)
        }
        self.state.withLock { $0 = state }
    }
}
