package import Instrument
internal import InstrumentWatch

/// Up to where the history was saved.
///
/// The history of streams survives a restart in a file: a day in minutes, two weeks in quarters of an hour, and the
/// latest events. Once a minute, what is new is appended; now and then, the file is written afresh.
package struct HistoryMark: Hashable, Sendable {
    /// Intervals that were over at this minute are saved.
    var minute: Int32
    /// The number of events of each stream that are saved, by slot.
    var events: [Int: Int] = [:]
    /// How often the history had been moved.
    private let moves: Int

    init(of model: MonitorModel, at now: WallTime) {
        (minute, moves) = (Int32(clamping: now.milliseconds / 60_000), model.historyClock.moves)
    }

    /// Whether what was saved is still the begin of a model's history: not after the wall clock has jumped.
    package func holds(for model: MonitorModel) -> Bool { moves == model.historyClock.moves }

    /// What is new in the history of a model since this mark, to be appended to the file, and the next mark.
    package func news(of model: MonitorModel, at now: WallTime) -> (bytes: [UInt8], mark: HistoryMark) {
        var bytes: [UInt8] = []
        var next = HistoryMark(of: model, at: now)
        for slot in model.streams.order {
            guard let state = model.streams[slot] else { continue }
            var entries = HistoryFile.Entries()
            entries.minutes = state.history.chart.closedMinutes(from: minute, before: next.minute)
            entries.quarters = state.history.chart.closedQuarters(after: minute, until: next.minute)
            let count = state.log.total - (events[slot] ?? 0)
            entries.log = Array(state.log.latest.suffix(max(0, count)))
            HistoryFile.append(entries, of: state.stream.name, to: &bytes)
            next.events[slot] = state.log.total
        }
        return (bytes, next)
    }
}

/// The whole history of a model, with the intervals that are not over, in pieces of about a megabyte.
package struct HistoryPieces: Sendable {
    private static let length = 1 << 20

    private let model: MonitorModel
    private var isBegun = false
    private var index = 0
    /// Up to where the pieces so far have the history.
    package private(set) var mark: HistoryMark

    package init(of model: MonitorModel, at now: WallTime) {
        (self.model, mark) = (model, HistoryMark(of: model, at: now))
    }

    /// The next piece; nil behind the last.
    package mutating func next() -> [UInt8]? {
        var bytes = isBegun ? [] : HistoryFile.head
        isBegun = true
        while index < model.streams.order.count, bytes.count < Self.length {
            let slot = model.streams.order[index]
            index += 1
            guard let state = model.streams[slot] else { continue }
            var entries = HistoryFile.Entries()
            (entries.minutes, entries.quarters) = (state.history.chart.minutes(), state.history.chart.quarters())
            entries.log = Array(state.log.latest)
            HistoryFile.append(entries, of: state.stream.name, to: &bytes)
            mark.events[slot] = state.log.total
        }
        return bytes.isEmpty ? nil : bytes
    }
}

/// What reading a history found.
package struct HistoryReading: Hashable, Sendable {
    /// The number of places that were damaged, and left out.
    package var damages = 0
}
