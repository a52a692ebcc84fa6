package import Instrument
internal import InstrumentJSON
internal import InstrumentWatch

/// Up to where the history was saved.
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
        while index < model.order.count, bytes.count < Self.length {
            let slot = model.order[index]
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

/// The history of streams survives a restart in a file: a day in minutes, two weeks in quarters of an hour, and the
/// latest events. Once a minute, what is new is appended; now and then, the file is written afresh.
extension MonitorModel {
    /// What is new since a mark, to be appended to the file.
    package func historyNews(after mark: HistoryMark, at now: WallTime) -> (bytes: [UInt8], mark: HistoryMark) {
        var bytes: [UInt8] = []
        var next = HistoryMark(of: self, at: now)
        for slot in order {
            guard let state = streams[slot] else { continue }
            var entries = HistoryFile.Entries()
            entries.minutes = state.history.chart.closedMinutes(from: mark.minute, before: next.minute)
            entries.quarters = state.history.chart.closedQuarters(after: mark.minute, until: next.minute)
            let events = state.log.total - (mark.events[slot] ?? 0)
            entries.log = Array(state.log.latest.suffix(max(0, events)))
            HistoryFile.append(entries, of: state.stream.name, to: &bytes)
            next.events[slot] = state.log.total
        }
        return (bytes, next)
    }

    /// Restores the history that an earlier process saved, also one of the first version; what is older than it is
    /// kept for, from the future, or of another form, is left out.
    /// - Returns: nil if the bytes are no history.
    package mutating func restoreHistory(_ bytes: [UInt8], at now: WallTime) -> HistoryReading? {
        if bytes.first == UInt8(ascii: "{") { return restoreFirstVersion(bytes, at: now) ? HistoryReading() : nil }
        let empty = self
        guard let reading = restoreHistory(bytes, at: now, movedBack: 0) else { return nil }
        let ahead = Int(reading.latest) - Int(clamping: now.milliseconds / 60_000)
        guard ahead > HistoryClock.leastAhead else { return HistoryReading(damages: reading.damages) }
        // The wall clock is behind that of the earlier process: what is known keeps its order.
        self = empty
        let moved = restoreHistory(bytes, at: now, movedBack: Int32(clamping: ahead))
        historyClock.noteRestored(movedBack: ahead)
        return moved.map { HistoryReading(damages: $0.damages) }
    }

    private mutating func restoreHistory(
        _ bytes: [UInt8],
        at now: WallTime,
        movedBack distance: Int32
    ) -> (damages: Int, latest: Int32)? {
        let latest = Int32(clamping: now.milliseconds / 60_000)
        let isRecent = { (point: HistoryPoint, reach: Int32) in
            point.minute <= latest && point.minute > latest - reach
        }
        let quarters = 15 * Int(distance).units(of: 15)
        var newest = Int32.min
        let damages = HistoryFile.read(bytes) { name, entries in
            var entries = entries
            newest = max(newest, entries.minutes.last?.minute ?? newest)
            if distance != 0 {
                for index in entries.minutes.indices { entries.minutes[index].move(byMinutes: -Int(distance)) }
                for index in entries.quarters.indices { entries.quarters[index].move(byMinutes: -quarters) }
            }
            guard let slot = slots[name] else { return }
            change(slot) { state in
                state.history.restore(
                    minutes: entries.minutes.filter { isRecent($0, 1_440) },
                    quarters: entries.quarters.filter { isRecent($0, 20_160) }
                )
                for entry in entries.log { state.log.append(entry) }
            }
        }
        guard let damages else { return nil }
        for slot in order { change(slot) { $0.history.resume(at: now) } }
        return (damages, newest)
    }

    /// A history in JSON with a day in quarters of an hour.
    private mutating func restoreFirstVersion(_ bytes: [UInt8], at now: WallTime) -> Bool {
        guard let json = try? JSONValue(parsing: bytes), json["version"] == 1,
            case .object(let saved)? = json["streams"]
        else { return false }
        let latest = Int(clamping: now.milliseconds / 60_000)
        for (name, value) in saved {
            guard let slot = slots[name], case .array(let list) = value else { continue }
            var points: [HistoryPoint] = []
            for entry in list.prefix(1_000) {
                guard case .array(let numbers) = entry, let point = HistoryPoint(numbers.compactMap(\.int)),
                    Int(point.minute) <= latest, Int(point.minute) > latest - 1_440,
                    points.last.map({ $0.minute < point.minute }) ?? true
                else { continue }
                points.append(point)
            }
            change(slot) { state in
                state.history.restore(minutes: [], quarters: points)
                state.history.resume(at: now)
            }
        }
        return true
    }
}

extension HistoryPoint {
    fileprivate init?(_ numbers: [Int]) {
        guard numbers.count == 9, let minute = Int32(exactly: numbers[0]) else { return nil }
        self.init(minute: minute)
        (playing, rebuffering) = (UInt32(clamping: numbers[1]), UInt32(clamping: numbers[2]))
        (errors, bitrate) = (UInt16(clamping: numbers[3]), UInt32(clamping: numbers[4]))
        (startup, latency) = (UInt32(clamping: numbers[5]), UInt32(clamping: numbers[6]))
        (buffer, wasDown) = (UInt32(clamping: numbers[7]), numbers[8] != 0)
    }
}
