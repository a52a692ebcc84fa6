#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Measures loudness by EBU R 128 (EBU Tech 3341, ITU-R BS.1770-4): short-term over three seconds, and integrated.
///
/// Mono and stereo, and further channels with the weight of stereo ones; the low-frequency channel is not left out,
/// because decoded sound does not always say which one it is.
package struct LoudnessMeter: Sendable {
    /// The loudness of silence: the meter measures nothing quieter, in LUFS.
    package static let silence = -120.0

    /// Samples per second.
    package private(set) var sampleRate: Int
    private var filters: [KWeighting]
    private var stepLength: Int
    private var stepEnergy = 0.0
    private var stepCount = 0
    /// The mean squares of the latest thirty tenths of a second.
    private var steps: [Double] = []
    /// Counts of blocks of 400 ms by their loudness, in tenths of a LU above -120: bounded, however long the sound.
    private var histogram = [Int](repeating: 0, count: 1_400)
    private var histogramEnergy = [Double](repeating: 0, count: 1_400)
    /// The loudness of the latest three seconds, in LUFS; nil before there are three seconds.
    package private(set) var shortTerm: Double?
    /// The largest short-term loudness, in LUFS.
    package private(set) var maximumShortTerm: Double?
    /// The smallest short-term loudness, in LUFS.
    package private(set) var minimumShortTerm: Double?

    /// Creates a meter; nil for a sample rate or a number of channels that is not positive.
    package init?(sampleRate: Int, channelCount: Int) {
        guard Self.measures(sampleRate, channelCount) else { return nil }
        self.sampleRate = sampleRate
        filters = Self.filters(sampleRate, channelCount)
        stepLength = Self.stepLength(sampleRate)
    }

    private static func measures(_ sampleRate: Int, _ channelCount: Int) -> Bool {
        (8_000...768_000).contains(sampleRate) && (1...64).contains(channelCount)
    }

    private static func filters(_ sampleRate: Int, _ channelCount: Int) -> [KWeighting] {
        (0..<channelCount).map { _ in KWeighting(sampleRate: Double(sampleRate)) }
    }

    private static func stepLength(_ sampleRate: Int) -> Int { max(1, sampleRate / 10) }

    /// Takes samples of all channels.
    ///
    /// With another number of channels or another rate than before, the short-term loudness begins again; the
    /// integrated loudness and the extremes continue. A buffer that cannot be measured is ignored.
    package mutating func take(_ buffer: SoundBuffer) {
        if buffer.channels.count != filters.count || buffer.sampleRate != sampleRate {
            guard Self.measures(buffer.sampleRate, buffer.channels.count) else { return }
            begin(buffer.sampleRate, buffer.channels.count)
        }
        for position in 0..<buffer.frameCount {
            for channel in filters.indices {
                let sample = Double(buffer.channels[channel][position])
                let weighted = filters[channel].apply(sample.isFinite ? sample : 0)
                stepEnergy += weighted * weighted
            }
            stepCount += 1
            if stepCount == stepLength { endStep() }
        }
    }

    /// Begins with sound of another layout: blocks must not mix two layouts.
    private mutating func begin(_ sampleRate: Int, _ channelCount: Int) {
        self.sampleRate = sampleRate
        filters = Self.filters(sampleRate, channelCount)
        stepLength = Self.stepLength(sampleRate)
        (stepEnergy, stepCount, steps, shortTerm) = (0, 0, [], nil)
    }

    private mutating func endStep() {
        steps.append(stepEnergy / Double(stepLength))
        (stepEnergy, stepCount) = (0, 0)
        if steps.count > 30 { steps.removeFirst() }
        if steps.count >= 4 { addBlock(steps.suffix(4).reduce(0, +) / 4) }
        guard steps.count == 30 else { return }
        let loudness = Self.loudness(steps.reduce(0, +) / 30)
        shortTerm = loudness
        maximumShortTerm = max(maximumShortTerm ?? loudness, loudness)
        minimumShortTerm = min(minimumShortTerm ?? loudness, loudness)
    }

    private mutating func addBlock(_ energy: Double) {
        let place = Int((Self.loudness(energy) + 120) * 10)
        guard histogram.indices.contains(place) else { return }
        histogram[place] += 1
        histogramEnergy[place] += energy
    }

    /// The loudness of everything so far, in LUFS, without blocks below -70 LUFS and 10 LU below the mean of the rest;
    /// nil without such blocks.
    package var integrated: Double? {
        guard let ungated = mean(from: 500) else { return nil }
        return mean(from: max(500, Int((Self.loudness(ungated) - 10 + 120) * 10))).map(Self.loudness)
    }

    private func mean(from place: Int) -> Double? {
        guard histogram.indices.contains(place) else { return nil }
        let count = histogram[place...].reduce(0, +)
        return count == 0 ? nil : histogramEnergy[place...].reduce(0, +) / Double(count)
    }

    private static func loudness(_ energy: Double) -> Double {
        energy > 0 ? max(silence, -0.691 + 10 * log10(energy)) : silence
    }
}

/// The K-weighting of ITU-R BS.1770: a shelf for the head, and a high-pass filter, both for any sample rate.
private struct KWeighting: Sendable {
    private var shelf: Biquad
    private var highPass: Biquad

    init(sampleRate: Double) {
        // The analogue filters of which BS.1770 prints the coefficients at 48 kHz.
        let shelfAngle = tan(Double.pi * 1681.974450955533 / sampleRate)
        let (gain, quality) = (pow(10, 3.999843853973347 / 20), 0.7071752369554196)
        let middle = pow(gain, 0.4996667741545416)
        let scale = 1 + shelfAngle / quality + shelfAngle * shelfAngle
        shelf = Biquad(
            b0: (gain + middle * shelfAngle / quality + shelfAngle * shelfAngle) / scale,
            b1: 2 * (shelfAngle * shelfAngle - gain) / scale,
            b2: (gain - middle * shelfAngle / quality + shelfAngle * shelfAngle) / scale,
            a1: 2 * (shelfAngle * shelfAngle - 1) / scale,
            a2: (1 - shelfAngle / quality + shelfAngle * shelfAngle) / scale
        )
        let passAngle = tan(Double.pi * 38.13547087602444 / sampleRate)
        let passQuality = 0.5003270373238773
        let passScale = 1 + passAngle / passQuality + passAngle * passAngle
        highPass = Biquad(
            b0: 1,
            b1: -2,
            b2: 1,
            a1: 2 * (passAngle * passAngle - 1) / passScale,
            a2: (1 - passAngle / passQuality + passAngle * passAngle) / passScale
        )
    }

    mutating func apply(_ sample: Double) -> Double { highPass.apply(shelf.apply(sample)) }
}

/// A recursive filter of the second order (transposed direct form II).
private struct Biquad: Sendable {
    let b0, b1, b2, a1, a2: Double
    private var first = 0.0
    private var second = 0.0

    init(b0: Double, b1: Double, b2: Double, a1: Double, a2: Double) {
        (self.b0, self.b1, self.b2, self.a1, self.a2) = (b0, b1, b2, a1, a2)
    }

    mutating func apply(_ input: Double) -> Double {
        let output = b0 * input + first
        first = b1 * input - a1 * output + second
        second = b2 * input - a2 * output
        return output
    }
}
