/// A second computation of an adaptive session, by stepping from event to event; shares no code with the probe.
///
/// One link that serves requests in their order, segments that play when they are complete, one stream or two,
/// rungs by a script. All times are nanoseconds.
struct ReferenceSession {
    struct Stream {
        /// The end of each kind of track after the arrival of a segment, by segment.
        var ends: [[Int64]]
        /// The begin of a segment's picture.
        var starts: [Int64]
        /// The bits of a segment by rung.
        var bits: [[Int64]]
        var playlistBits: [Int64]
    }

    struct Outcome: Equatable {
        var waits: [Int64] = []
        var resumptions: [Int64] = []
        var start: Int64?
        var changes: [Int64] = []
        var end: Int64?
        var requests: [Int64] = []
    }

    private struct Lane {
        var next = 0
        var rungs: Set<Int> = []
        /// A running request: its end, and whether it is for the segment.
        var arrival: Int64?
        var carriesSegment = false
        var pendingSegment = false
        var rung = 0
        var isBegun: Bool
        var isOver = false
        var loaded: Int64 = 0
        var ends: [Int64?]
    }

    /// A distance between timestamps is not more exact.
    private static let rounding: Int64 = 25_000

    let streams: [Stream]
    let script: [Int]
    let (startLevel, resumeLevel, maximum): (Int64, Int64, Int64)
    let latency: Int64
    /// The bitrates and the instants from which they apply.
    let rates: [(Int64, Int64)]
    private var lanes: [Lane]
    private var linkFree: Int64 = 0
    private var now: Int64 = 0
    private var isPlaying = false
    private var (since, position): (Int64, Int64) = (0, 0)
    private var allThere = false
    private var cues: [Int64] = []
    private var outcome = Outcome()

    init(
        _ streams: [Stream],
        script: [Int],
        levels: (start: Int64, resume: Int64, maximum: Int64),
        latency: Int64,
        rates: [(Int64, Int64)]
    ) {
        (self.streams, self.script, self.latency, self.rates) = (streams, script, latency, rates)
        (startLevel, resumeLevel, maximum) = (levels.start, levels.resume, levels.maximum)
        lanes = streams.enumerated().map { Lane(isBegun: $0 == 0, ends: $1.ends[0].map { _ in nil }) }
    }

    mutating func run(masterBits: Int64) -> Outcome {
        now = send(masterBits)
        outcome.waits.append(now)
        pump()
        while outcome.end == nil {
            let candidates = lanes.compactMap(\.arrival) + [nextInPlayback, nextRoom].compactMap(\.self)
            guard let next = candidates.min() else { break }
            step(to: next)
        }
        return outcome
    }

    private mutating func step(to instant: Int64) {
        let old = now
        now = instant
        if isPlaying { playOn(from: old) }
        if outcome.end != nil { return }
        for index in lanes.indices where lanes[index].arrival == now { arrive(index) }
        pump()
    }

    // MARK: The link
    private mutating func send(_ bits: Int64) -> Int64 {
        outcome.requests.append(now)
        var clock = max(now + latency, linkFree)
        var missing = bits * 1_000_000_000
        for (index, rate) in rates.enumerated() {
            let until = index + 1 < rates.count ? rates[index + 1].0 : Int64.max
            if until <= clock { continue }
            let possible =
                until == .max ? Int64.max : (until - clock).multipliedReportingOverflow(by: rate.1).partialValue
            if rate.1 > 0, missing <= possible {
                clock += (missing + rate.1 - 1) / rate.1
                break
            }
            missing -= possible
            clock = until
        }
        linkFree = clock
        return clock
    }

    // MARK: Loading
    private mutating func pump() {
        for index in lanes.indices where lanes[index].isBegun && lanes[index].arrival == nil && !lanes[index].isOver {
            advance(index)
        }
        if lanes.allSatisfy({ $0.isOver }), !allThere {
            allThere = true
            settle()
        }
    }

    private mutating func advance(_ index: Int) {
        var lane = lanes[index]
        if lane.pendingSegment {
            lane.pendingSegment = false
        } else {
            if lane.next >= streams[index].ends.count {
                lanes[index].isOver = true
                return
            }
            guard hasRoom(lane) else { return }
            lane.rung = index == 0 ? script[lane.next] : 0
            if lane.rungs.insert(lane.rung).inserted {
                lane.arrival = send(streams[index].playlistBits[lane.rung])
                lane.carriesSegment = false
                lane.pendingSegment = true
                lanes[index] = lane
                return
            }
        }
        lane.arrival = send(streams[index].bits[lane.rung][lane.next])
        lane.carriesSegment = true
        lanes[index] = lane
        // The audio track starts once the start of the video is known.
        if index == 0, lanes.count > 1 { lanes[1].isBegun = true }
    }

    private func hasRoom(_ lane: Lane) -> Bool { lane.loaded - playhead < maximum || isShort(lane) }

    private func isShort(_ lane: Lane) -> Bool {
        let level = buffered - position
        let wanted = outcome.start == nil ? startLevel : resumeLevel
        let hasAll = lanes.allSatisfy { $0.ends.allSatisfy { $0 != nil } }
        return hasAll && !isPlaying && level < max(1, wanted - Self.rounding)
            && !lanes.contains { !$0.isOver && $0.loaded < lane.loaded }
    }

    private mutating func arrive(_ index: Int) {
        lanes[index].arrival = nil
        guard lanes[index].carriesSegment else { return }
        let number = lanes[index].next
        let stream = streams[index]
        lanes[index].carriesSegment = false
        if index == 0, number > 0, script[number] != script[number - 1] { cues.append(stream.starts[number]) }
        for (kind, end) in stream.ends[number].enumerated() {
            lanes[index].ends[kind] = max(lanes[index].ends[kind] ?? 0, end)
        }
        lanes[index].loaded = max(lanes[index].loaded, stream.ends[number][0])
        lanes[index].next += 1
        settle()
    }

    // MARK: Playing
    private var playhead: Int64 { isPlaying ? min(buffered, position + now - since) : position }

    private var buffered: Int64 {
        let ends = lanes.flatMap(\.ends).map { $0 ?? 0 }
        return (allThere ? ends.max() : ends.min()) ?? 0
    }

    private var nextInPlayback: Int64? {
        guard isPlaying else { return nil }
        return since + max(0, min(buffered, cues.first ?? .max) - position)
    }

    private var nextRoom: Int64? {
        guard isPlaying else { return nil }
        let idle = lanes.filter { $0.isBegun && $0.arrival == nil && !$0.isOver }
        return idle.map { max(now, since + $0.loaded - maximum + 1 - position) }.min()
    }

    private mutating func playOn(from old: Int64) {
        while let cue = cues.first, cue <= buffered, since + max(0, cue - position) <= now {
            outcome.changes.append(since + max(0, cue - position))
            cues.removeFirst()
        }
        let dry = since + buffered - position
        guard dry <= now else { return }
        // Media that arrives at exactly this instant is too late.
        (isPlaying, position) = (false, buffered)
        if allThere { outcome.end = dry } else { outcome.waits.append(dry) }
    }

    private mutating func settle() {
        guard !isPlaying, outcome.end == nil else { return }
        let hasAll = lanes.allSatisfy { $0.ends.allSatisfy { $0 != nil } }
        let wanted = outcome.start == nil ? startLevel : resumeLevel
        guard allThere || (hasAll && buffered - position >= max(1, wanted - Self.rounding)) else { return }
        (isPlaying, since) = (true, now)
        outcome.resumptions.append(now)
        if outcome.start == nil { outcome.start = now }
        while let cue = cues.first, cue <= position {
            outcome.changes.append(now)
            cues.removeFirst()
        }
    }
}
