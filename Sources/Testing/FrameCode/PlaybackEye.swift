package import Instrument

/// What an independent eye saw of a playback: the frames that a video sink or a series of screenshots showed, by their
/// codes, and when.
///
/// The eye sees a stall where no new frame comes for longer than `frameDuration` and `patience` together. Players show
/// one picture early, before the clock runs, after a start, a stall or a seek; a frame without a successor is
/// therefore no motion.
package struct PlaybackEye: Hashable, Sendable {
    /// A frame and the instant at which it was first seen.
    package struct Sighting: Hashable, Sendable {
        /// The number of the frame's code.
        package var number: Int
        /// The instant at which the frame was first seen.
        package var instant: MonotonicInstant
    }

    /// A time during which frames followed one another.
    package struct Motion: Hashable, Sendable {
        /// The first frame.
        package var first: Sighting
        /// The instant since which the clock runs: a first frame may have stood before its successor.
        package var begin: MonotonicInstant
        /// The last frame.
        package var last: Sighting
        /// The instant at which the last frame should have been replaced.
        package var end: MonotonicInstant
    }

    /// The duration of a frame of the media.
    package var frameDuration: Duration
    /// How much longer than ``frameDuration`` a frame may stay without being a stall.
    package var patience: Duration
    /// The distinct frames, in the order in which they were seen.
    package private(set) var sightings: [Sighting] = []
    /// The pictures without a legible code.
    package private(set) var illegibleCount = 0

    /// Creates an eye that has seen nothing.
    package init(frameDuration: Duration = .milliseconds(40), patience: Duration = .milliseconds(100)) {
        (self.frameDuration, self.patience) = (frameDuration, patience)
    }

    /// Takes a picture that was seen: the number of its code, or nil for an illegible one.
    package mutating func saw(_ number: Int?, at instant: MonotonicInstant) {
        guard let number else {
            illegibleCount += 1
            return
        }
        guard number != sightings.last?.number else { return }
        sightings.append(Sighting(number: number, instant: instant))
    }

    /// The times of motion, in order: the first begins with the start of playback, and the times between them are
    /// stalls, pauses and seeks.
    package var motions: [Motion] {
        var motions: [Motion] = []
        var run: (first: Sighting, second: Sighting?, last: Sighting)?
        func finish() {
            guard let run, let second = run.second else { return }
            let frames = max(1, second.number - run.first.number)
            let begin = max(run.first.instant, second.instant.advanced(by: frameDuration * -frames))
            let end = run.last.instant.advanced(by: frameDuration)
            motions.append(Motion(first: run.first, begin: begin, last: run.last, end: end))
        }
        for sighting in sightings {
            if let last = run?.last, last.instant.duration(to: sighting.instant) <= frameDuration + patience,
                isSuccessor(sighting.number, of: last.number)
            {
                run = run.map { ($0.first, $0.second ?? sighting, sighting) }
            } else {
                finish()
                run = (sighting, nil, sighting)
            }
        }
        finish()
        return motions
    }

    /// Dropped frames leave gaps; a frame before, or one far ahead, is a jump. Live media begin again at 0.
    private func isSuccessor(_ number: Int, of last: Int) -> Bool {
        number == 0 || (number > last && number - last <= Self.mostDroppedFrames)
    }

    private static let mostDroppedFrames = 12
}
