import Instrument

@testable import InstrumentProbe

/// Big Buck Bunny as in the BOLA paper.
let bunny = SegmentedMedia.bigBuckBunny.ladder

/// A ladder of 1, 2 and 4 Mbit/s.
let three = BitrateLadder(
    LadderRung(peakBitrate: 1_000_000, height: 360),
    LadderRung(peakBitrate: 2_000_000, height: 720),
    LadderRung(peakBitrate: 4_000_000, height: 1080)
)

/// Seconds with a constant kbit/s each.
func history(_ samples: (seconds: Double, kilobits: Int)...) -> ThroughputHistory {
    ThroughputHistory(
        samples.map {
            ThroughputSample(
                bytes: Int64($0.seconds * Double($0.kilobits) * 125),
                transferTime: .seconds($0.seconds),
                timeToFirstByte: .zero,
                end: MonotonicInstant(nanoseconds: 0)
            )
        }
    )
}

extension ThroughputHistory {
    /// The same samples, all of which end at an instant.
    func ending(at seconds: Double) -> ThroughputHistory {
        ThroughputHistory(
            samples.map { sample in
                var sample = sample
                sample.end = MonotonicInstant(nanoseconds: Int64(seconds * 1e9))
                return sample
            }
        )
    }
}

func context(
    _ ladder: BitrateLadder = three,
    current: Int? = 0,
    level: Double = 0,
    maximum: Double = 30,
    playhead: AdaptationContext.Playhead = .playing,
    segment: Double = 4,
    index: Int = 10,
    remaining: Int? = nil,
    throughput: ThroughputHistory = ThroughputHistory(),
    estimate: Int? = nil,
    live: AdaptationContext.Live? = nil,
    rate: Double = 1,
    constraints: AdaptationConstraints = AdaptationConstraints(),
    now: Double = 0
) -> AdaptationContext {
    AdaptationContext(
        ladder: ladder,
        currentRung: current,
        bufferLevel: .seconds(level),
        buffer: BufferPolicy(startThreshold: .seconds(1), resumeThreshold: .seconds(1), maximum: .seconds(maximum)),
        playhead: playhead,
        segment: AdaptationContext.Segment(index: index, duration: .seconds(segment), remaining: remaining),
        throughput: throughput,
        initialEstimate: estimate,
        live: live,
        playbackRate: rate,
        constraints: constraints,
        now: MonotonicInstant(nanoseconds: Int64(now * 1e9))
    )
}

func download(
    rung: Int,
    seconds: Double = 4,
    received: Int64,
    first: Int64 = 0,
    total: Int64?,
    elapsed: Double,
    firstByte: Double? = 0,
    lastByte: Double? = nil
) -> SegmentDownload {
    SegmentDownload(
        rung: rung,
        duration: .seconds(seconds),
        receivedBytes: received,
        firstBytes: first,
        totalBytes: total,
        elapsed: .seconds(elapsed),
        timeToFirstByte: firstByte.map { .seconds($0) },
        timeToLastByte: received > 0 ? .seconds(lastByte ?? elapsed) : nil
    )
}
