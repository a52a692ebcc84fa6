@testable import InstrumentProbe

/// A simple second implementation of the player's rules: time advances in steps of a quarter of a millisecond, and each
/// step reads the buffer. Positions are whole eighths of a millisecond, so that nothing is rounded at the rates ½, 1
/// and 2.
struct SteppingPlayer {
    enum Happening: Hashable { case stalled, filled(PlaybackModel.Wait), started, ended }
    struct Entry: Hashable {
        var what: Happening
        var quarters: Int
        var eighths: Int
    }
    private enum Mode { case waiting(PlaybackModel.Wait), running, over }

    let start: Int
    let resume: Int
    let maximum: Int
    /// The media that stays behind the playhead; nil for all media.
    let back: Int?
    private(set) var log: [Entry] = []
    private var mode = Mode.waiting(.start)
    private var place = 0
    /// The beginning of the buffer.
    private var begin = 0
    private var ends: [Int?] = [nil, nil]
    private var isOut = [false, false]
    private var isEndKnown = false
    private var isPaused = false
    private var hasStarted = false
    private var step = 2

    /// Thresholds and the back buffer in milliseconds.
    init(start: Int, resume: Int, maximum: Int, back: Int? = 0) {
        (self.start, self.resume, self.maximum) = (start * 8, resume * 8, maximum * 8)
        self.back = back.map { $0 * 8 }
    }

    private var reach: Int {
        let known = ends.map { $0 ?? place }
        if isEndKnown { return max(place, known.max() ?? place) }
        let counted = zip(known, isOut).filter { !$0.1 }.map(\.0)
        return max(place, counted.min() ?? known.max() ?? place)
    }

    /// One step: the playhead moves, and the consequences of its position follow.
    mutating func tick(_ quarters: Int) {
        guard case .running = mode, !isPaused else { return }
        place += step
        lookForHunger(quarters)
    }

    mutating func perform(_ act: Act, _ quarters: Int) {
        switch act {
        case .append(let track, let end):
            ends[track] = max(ends[track] ?? place, end * 8)
            let leader = ends.compactMap { $0 }.max() ?? 0
            for other in ends.indices where leader - (ends[other] ?? place) > maximum { isOut[other] = true }
        case .end: isEndKnown = true
        case .pause: isPaused = true
        case .resume:
            if !isPaused { return }
            isPaused = false
            if case .running = mode, !hasStarted { showFirst(quarters) }
        case .rate(let halves): step = halves
        case .seek(let target): jump(to: target * 8, quarters)
        case .look: break
        }
        lookForPlenty(quarters)
        lookForHunger(quarters)
    }

    private mutating func jump(to target: Int, _ quarters: Int) {
        switch mode {
        case .over: return
        case .waiting(.stall): note(.filled(.stall), quarters)
        default: break
        }
        if let back { begin = max(begin, place - back) }
        let isBuffered = target >= begin && target <= reach && !ends.contains { $0 == nil }
        switch mode {
        case .running: mode = .waiting(.seek)
        default: if hasStarted { mode = .waiting(.seek) }
        }
        if !isBuffered { (ends, isOut, isEndKnown, begin) = ([nil, nil], [false, false], false, target) }
        place = target
    }

    private mutating func lookForPlenty(_ quarters: Int) {
        guard case .waiting(let wait) = mode else { return }
        let isThere = zip(ends, isOut).allSatisfy { $0.0 != nil || $0.1 }
        let wanted = max(1, wait == .stall ? resume : start)
        guard isEndKnown || (isThere && reach - place >= wanted) else { return }
        mode = .running
        note(.filled(wait), quarters)
        if !hasStarted, !isPaused { showFirst(quarters) }
    }

    private mutating func lookForHunger(_ quarters: Int) {
        guard case .running = mode, !isPaused, place >= reach else { return }
        mode = isEndKnown ? .over : .waiting(.stall)
        note(isEndKnown ? .ended : .stalled, quarters)
    }

    private mutating func showFirst(_ quarters: Int) {
        hasStarted = true
        note(.started, quarters)
    }

    private mutating func note(_ what: Happening, _ quarters: Int) {
        log.append(Entry(what: what, quarters: quarters, eighths: place))
    }
}

/// Something done to a player, in milliseconds of the media.
enum Act: Hashable {
    case append(track: Int, end: Int), end, pause, resume, seek(Int), look
    /// Twice the rate.
    case rate(Int)
}
