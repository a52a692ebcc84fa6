package import Instrument
internal import InstrumentJSON

/// The latest day of each stream, which survives a restart in a file of its size: some four kilobytes for a stream.
extension MonitorModel {
    /// The history to save.
    package var savedHistory: [UInt8] {
        var streams: [String: JSONValue] = [:]
        for (name, slot) in slots {
            guard let quarters = self.streams[slot]?.chart.quarters, !quarters.isEmpty else { continue }
            streams[name] = .array(quarters.map { .array($0.numbers.map { .int($0) }) })
        }
        let json: JSONValue = ["version": 1, "streams": .object(streams)]
        return json.bytes
    }

    /// Restores the history that an earlier process saved; what is older than a day, or of another form, is left out.
    /// - Returns: false if the bytes are no history.
    package mutating func restoreHistory(_ bytes: [UInt8], at now: WallTime) -> Bool {
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
            change(slot) { $0.chart = StreamChart(quarters: points) }
        }
        return true
    }
}

extension HistoryPoint {
    fileprivate var numbers: [Int] {
        [
            Int(minute), Int(playing), Int(rebuffering), Int(errors), Int(bitrate), Int(startup), Int(latency),
            Int(buffer),
            wasDown ? 1 : 0,
        ]
    }

    fileprivate init?(_ numbers: [Int]) {
        guard numbers.count == 9, let minute = Int32(exactly: numbers[0]) else { return nil }
        self.init(minute: minute)
        (playing, rebuffering) = (UInt32(clamping: numbers[1]), UInt32(clamping: numbers[2]))
        (errors, bitrate) = (UInt16(clamping: numbers[3]), UInt32(clamping: numbers[4]))
        (startup, latency) = (UInt32(clamping: numbers[5]), UInt32(clamping: numbers[6]))
        (buffer, wasDown) = (UInt32(clamping: numbers[7]), numbers[8] != 0)
    }
}
