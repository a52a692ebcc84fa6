/// What a viewer sees, by arithmetic: the schedule's integral says when each byte arrives, the order of requests whose
/// bytes these are, the containers which byte completes which frame. Shares no code with the probe. Nanoseconds.
struct ComputedPlayback {
    /// A resource of a track, in the order of its requests.
    struct Resource {
        var size: Int
        /// The frames of a segment; none for a playlist or an initialization section.
        var frames: [FrameBytes] = []
        /// The duration in the playlist of the segment whose loading this request begins; 0 if an earlier one, for its
        /// initialization section, has begun it.
        var duration: Int64 = 0
    }

    struct Request {
        var lane: Int
        var instant: Int64
    }

    struct Stall: Equatable {
        var begin: Int64
        var end: Int64
    }

    struct Outcome: Equatable {
        var start: Int64?
        var stalls: [Stall] = []
        var end: Int64?

        /// The instants of start and stalls; those of outcomes with equally many stalls can be compared in pairs.
        var instants: [Int64] { [start ?? -1] + stalls.flatMap { [$0.begin, $0.end] } }
    }

    /// Media of a kind that is playable up to `end`, from an instant on.
    private struct Arrival {
        var instant: Int64
        var isVideo: Bool
        var end: Int64
    }

    /// Two ticks of 90 kHz: a distance between timestamps is not more exact.
    private static let rounding: Int64 = 25_000

    /// bit/s from an instant on; the first begins at 0.
    var rates: [(from: Int64, bitrate: Int64)]
    /// The tracks; the first one has video.
    var lanes: [[Resource]]
    /// The size of the manifest that names the tracks.
    var manifestSize: Int
    /// Whether frames are playable before their segment is complete.
    var isProgressive: Bool
    /// Whether a track requests no segment that begins after the end of the one that the other requested last.
    var keepsStep = false
    /// The bytes of a segment that the demuxer reads at once, and the pictures of a transport stream that have to
    /// follow a picture.
    var block = 1
    var pictures = 0
    /// The requests of the tracks' resources as a server has received them: on two connections, their order and
    /// instants depend on the machine. By default, each request comes at the end of the one before.
    var received: [Request]?
    /// The number of bytes that the link delivers together, by the size of the resource.
    var piece: (Int) -> Int = { _ in 1 }

    /// The instant at which a number of bytes has arrived that leave from `start` on.
    private func arrival(of bytes: Int, from start: Int64) -> Int64 {
        var (left, now) = (Int64(bytes) * 8_000_000_000, start)
        for (index, rate) in rates.enumerated() {
            let until = index + 1 < rates.count ? rates[index + 1].from : .max
            if until <= now { continue }
            let capacity = until == .max ? .max : (until - now) * rate.bitrate
            if rate.bitrate > 0, left <= capacity { return now + (left + rate.bitrate - 1) / rate.bitrate }
            (left, now) = (left - capacity, until)
        }
        return now
    }

    /// Whether a track may request its next resource, by the number of resources that each has requested.
    private func isInStep(_ lane: Int, _ requested: [Int]) -> Bool {
        func end(_ lane: Int) -> Int64 { lanes[lane].prefix(requested[lane]).reduce(0) { $0 + $1.duration } }
        return !keepsStep
            || lanes.indices.allSatisfy { $0 == lane || requested[$0] == lanes[$0].count || end(lane) <= end($0) }
    }

    /// The arrivals of media, and the instant of the last byte. One link serves the requests in their order; a track
    /// has one request at a time, and the second track begins once the first one's playlist is there.
    private func arrivals() -> (media: [Arrival], last: Int64) {
        var free = arrival(of: manifestSize, from: 0)
        var requests = received ?? [Request(lane: 0, instant: free)]
        var next = lanes.map { _ in 0 }
        // The resources that were requested, and the tracks that wait for the other one.
        var asked = lanes.indices.map { $0 == 0 ? 1 : 0 }
        var idle: Set<Int> = []
        var found = lanes.map { _ in [Arrival]() }
        let origin = lanes[0].lazy.flatMap(\.frames).filter(\.isVideo).map(\.start).min() ?? 0
        while !requests.isEmpty {
            let request = requests.removeFirst()
            let (lane, index) = (request.lane, next[request.lane])
            guard index < lanes[lane].count else { continue }
            next[lane] += 1
            let resource = lanes[lane][index]
            let start = max(free, request.instant)
            free = arrival(of: resource.size, from: start)
            let piece = piece(resource.size)
            for frame in resource.frames {
                let read = (frame.bytes + block - 1) / block * block
                let needed = min(resource.size, (read + piece - 1) / piece * piece)
                let there = isProgressive ? arrival(of: needed, from: start) : free
                found[lane].append(Arrival(instant: there, isVideo: frame.isVideo, end: frame.end - origin))
            }
            guard received == nil else { continue }
            idle.insert(lane)
            if lane == 0, index == 0 { idle.formUnion(1..<lanes.count) }
            // A request of a later track may allow one of an earlier track.
            for lane in Array(lanes.indices) + [0] where idle.contains(lane) && isInStep(lane, asked) {
                idle.remove(lane)
                guard asked[lane] < lanes[lane].count else { continue }
                asked[lane] += 1
                requests.append(Request(lane: lane, instant: free))
            }
        }
        if isProgressive, pictures > 0 {
            found[0] = found[0].filter { !$0.isVideo } + delayed(found[0].filter(\.isVideo), free)
        }
        return (found.joined().sorted { $0.instant < $1.instant }, free)
    }

    /// Each picture when the later one has come on which it depends, the last ones at the end.
    private func delayed(_ media: [Arrival], _ last: Int64) -> [Arrival] {
        media.indices.map { index in
            var arrival = media[index]
            arrival.instant = index + pictures < media.count ? media[index + pictures].instant : last
            return arrival
        }
    }

    /// Computes start, stalls and end.
    ///
    /// - Parameters:
    ///   - startLevel: the media at which playback starts.
    ///   - resumeLevel: the media at which playback continues after a stall.
    func outcome(startLevel: Int64, resumeLevel: Int64) -> Outcome {
        let (media, last) = arrivals()
        var outcome = Outcome()
        var (video, audio): (Int64?, Int64?) = (nil, nil)
        /// While playback moves: the instant at which the playhead was, or would have been, at the beginning.
        var zero: Int64?
        var (position, stalledAt): (Int64, Int64) = (0, 0)
        func go(at instant: Int64) {
            if outcome.start == nil {
                outcome.start = instant
            } else {
                outcome.stalls.append(Stall(begin: stalledAt, end: instant))
            }
            zero = instant - position
        }
        for arrival in media {
            if let begun = zero, let level = [video, audio].compactMap({ $0 }).min(),
                begun + level <= arrival.instant
            {
                (zero, position, stalledAt) = (nil, level, begun + level)
            }
            if arrival.isVideo { video = max(video ?? 0, arrival.end) } else { audio = max(audio ?? 0, arrival.end) }
            let level = outcome.start == nil ? startLevel : resumeLevel
            if zero == nil, let video, let audio, min(video, audio) - position >= max(1, level - Self.rounding) {
                go(at: arrival.instant)
            }
        }
        if zero == nil { go(at: last) }
        outcome.end = (zero ?? last) + max(video ?? 0, audio ?? 0)
        return outcome
    }
}
