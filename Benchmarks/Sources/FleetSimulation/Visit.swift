import Instrument

/// What a player does at an instant.
enum Deed: Sendable {
    /// The app opens its player.
    case open
    /// The player emits an event.
    case emit(Action)
    /// The player emits a change of the rung, or the first rung.
    case show(Action, rung: Int)
    /// An error that ends the playback.
    case fail
    /// The app closes its player.
    case close
}

/// A viewer's visit: from the opening of the player to its close.
struct Visit: Sendable {
    /// Milliseconds since midnight.
    private(set) var deeds: [(time: Int64, deed: Deed)] = []
    var end: Int64 { deeds.last?.time ?? 0 }

    init(at start: Int64, _ chance: inout Chance) {
        var now = start
        func later(_ milliseconds: Double) -> Int64 { Int64(max(1, milliseconds)) }
        deeds.append((now, .open))
        now += later(50 + 400 * chance.share())
        deeds.append((now, .emit(.mediaRequest)))
        now += later(20 + 80 * chance.share())
        deeds.append((now, .emit(.streamLoad)))
        let startTime = chance.logNormal(median: 900, deviation: 0.7)
        if chance.happens(0.008) {
            now += later(startTime)
            deeds.append((now, .fail))
        } else if let patience = Self.patience(&chance), patience < startTime {
            now += later(patience)
            deeds.append((now, .emit(.stop)))
        } else {
            now += later(startTime)
            play(from: &now, &chance)
        }
        now += later(2_000 * chance.share())
        deeds.append((now, .close))
    }

    /// Milliseconds after which the viewer leaves; nil for one that waits.
    private static func patience(_ chance: inout Chance) -> Double? {
        for second in 2..<30 where chance.happens(0.058) { return (Double(second) + chance.share()) * 1000 }
        return nil
    }

    private static func contentLength(_ chance: inout Chance) -> Double {
        let kind = chance.share()
        let minutes = kind < 0.6 ? 1.0..<10 : kind < 0.9 ? 22..<45 : 90..<110
        return (minutes.lowerBound + (minutes.upperBound - minutes.lowerBound) * chance.share()) * 60_000
    }

    private mutating func play(from now: inout Int64, _ chance: inout Chance) {
        var rung = chance.number(0..<3)
        deeds.append((now, .show(.start, rung: rung)))
        let intended = chance.logNormal(median: 534_000, deviation: 1.805)
        let length = Self.contentLength(&chance)
        let fails = chance.happens(0.004) ? chance.share() * min(intended, length) : .infinity
        var rest = min(intended, length, fails)
        while true {
            let gap = chance.exponential(mean: 180_000)
            if gap >= rest { break }
            rest -= gap
            now += Int64(max(1, gap))
            let kind = chance.share()
            if kind < 0.45 {
                let next = min(max(0, rung + (chance.happens(0.65) ? 1 : -1)), FleetModel.rungs.count - 1)
                if next != rung {
                    deeds.append((now, .show(next > rung ? .qualityChangeUp : .qualityChangeDown, rung: next)))
                    rung = next
                }
                continue
            }
            let (begin, finish, median): (Action, Action, Double) =
                kind < 0.6
                ? (.bufferBegin, .bufferFinish, 1_200)
                : kind < 0.8 ? (.pauseBegin, .pauseFinish, 40_000) : (.seekBegin, .seekFinish, 600)
            deeds.append((now, .emit(begin)))
            now += Int64(max(1, chance.logNormal(median: median, deviation: 0.9)))
            deeds.append((now, .emit(finish)))
        }
        now += Int64(max(1, rest))
        let last: Deed = fails < min(intended, length) ? .fail : .emit(intended < length ? .stop : .end)
        deeds.append((now, last))
    }
}
