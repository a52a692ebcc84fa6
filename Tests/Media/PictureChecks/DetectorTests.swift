import InstrumentPictureChecks
import Testing

@Suite("Detectors of black, frozen and silent media")
struct DetectorTests {
    private let second: Int64 = 1_000_000_000

    private func picture(_ time: Int64, _ luma: Float, bright: Int = 0) -> PictureSummary {
        var cells = [Float](repeating: luma, count: PictureSummary.columns * PictureSummary.rows)
        for cell in 0..<bright { cells[cell] = 0.9 }
        return PictureSummary(time: time * second, cells: cells)
    }

    @Test("Black pictures give an interval from the first black one to the last one")
    func black() {
        var detector = BlackDetector(minimum: .seconds(2))
        var found: [MediaInterval] = []
        for (time, luma) in [(0, 0.5), (1, 0.01), (2, 0), (3, 0), (4, 0.4), (5, 0), (6, 0.5)] as [(Int64, Float)] {
            if let interval = detector.take(picture(time, luma)) { found.append(interval) }
        }
        #expect(found == [MediaInterval(start: second, end: 3 * second)])
        #expect(detector.finish() == nil)
    }

    @Test("A black interval that lasts is shown once it is long enough, and no longer after its end")
    func blackLasts() {
        var detector = BlackDetector(minimum: .seconds(2))
        var shown: [MediaInterval?] = []
        for (time, luma) in [(0, 0.5), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0.5)] as [(Int64, Float)] {
            _ = detector.take(picture(time, luma))
            shown.append(detector.current)
        }
        #expect(shown.map { $0.map { $0.end - $0.start } } == [nil, nil, nil, 2 * second, 3 * second, nil])
    }

    @Test("A black end lasts until the last picture")
    func blackEnd() {
        var detector = BlackDetector(minimum: .seconds(2))
        for (time, luma) in [(0, 0.5), (2, 0), (4, 0)] as [(Int64, Float)] { _ = detector.take(picture(time, luma)) }
        #expect(detector.finish() == MediaInterval(start: 2 * second, end: 4 * second))
    }

    @Test("One picture every few seconds is neither black nor frozen for as long as it is shown")
    func sparsePictures() {
        var (black, freeze) = (BlackDetector(minimum: .seconds(2)), FreezeDetector(minimum: .seconds(2)))
        for time in 0..<6 {
            #expect(black.take(picture(Int64(time) * 4, time % 2 == 0 ? 0 : 0.5)) == nil)
            #expect(freeze.take(picture(Int64(time) * 4, time % 2 == 0 ? 0.3 : 0.5)) == nil)
        }
        #expect(black.finish() == nil)
        #expect(freeze.finish() == nil)
    }

    @Test("Credits on black and a dark scene are not black")
    func credits() {
        #expect(BlackDetector.isBlack(picture(0, 0)))
        #expect(!BlackDetector.isBlack(picture(0, 0, bright: 2)))
        #expect(!BlackDetector.isBlack(picture(0, 0.08)))
    }

    @Test("A picture that does not change is frozen, and one that changes slowly is not")
    func freeze() {
        var (still, slow) = (FreezeDetector(minimum: .seconds(3)), FreezeDetector(minimum: .seconds(3)))
        var found: [MediaInterval] = []
        for time in 0..<10 {
            if let interval = still.take(picture(Int64(time), time < 6 ? 0.5 : 0.7 + Float(time) / 50)) {
                found.append(interval)
            }
            #expect(slow.take(picture(Int64(time), 0.3 + Float(time) * 0.005)) == nil)
        }
        #expect(found == [MediaInterval(start: 0, end: 5 * second)])
        #expect(slow.finish() == nil)
    }

    @Test("A jump of the time ends an interval")
    func jump() {
        var detector = BlackDetector(minimum: .seconds(2))
        _ = detector.take(picture(0, 0))
        _ = detector.take(picture(3, 0))
        #expect(detector.take(picture(500, 0)) == MediaInterval(start: 0, end: 3 * second))
        #expect(detector.finish() == nil)
    }

    @Test("Silence is found in blocks of any size", arguments: [1, 64, 1_024, 48_000])
    func silence(size: Int) {
        var detector = SilenceDetector(minimum: .seconds(2))
        var found: [MediaInterval] = []
        let samples = (0..<(48_000 * 6)).map { position -> Float in
            (48_000..<(48_000 * 4)).contains(position) ? 0.0005 : position % 2 == 0 ? 0.3 : -0.3
        }
        for start in stride(from: 0, to: samples.count, by: size) {
            let part = Array(samples[start..<min(start + size, samples.count)])
            let time = Int64(start) * second / 48_000
            found += detector.take(SoundBuffer(time: time, sampleRate: 48_000, channels: [part, part]))
        }
        // The instants of buffers are rounded to nanoseconds.
        #expect(found.count == 1)
        #expect(abs((found.first?.start ?? 0) - second) <= 2)
        #expect(abs((found.first?.end ?? 0) - 4 * second) <= 2)
        #expect(detector.finish() == nil)
    }

    @Test("Luma of video range and of full range give the same black")
    func ranges() {
        for (value, isFull) in [(16, false), (0, true)] as [(UInt8, Bool)] {
            let row = [UInt8](repeating: value, count: 64)
            let summary = row.withUnsafeBufferPointer { pixels in
                PictureSummary(time: 0, width: 64, height: 36, isFullRange: isFull) { _ in pixels }
            }
            #expect(summary.meanLuma == 0)
            #expect(BlackDetector.isBlack(summary))
        }
    }

    @Test(
        "A sine of 1 kHz at -23 dBFS on both channels measures -23 LUFS, at any sample rate",
        arguments: [44_100, 48_000, 96_000]
    )
    func calibration(rate: Int) throws {
        var meter = try #require(LoudnessMeter(sampleRate: rate, channelCount: 2))
        let amplitude = 0.070794578
        let samples = (0..<(rate * 6)).map { Float(amplitude * sine(1_000 * Double($0) / Double(rate))) }
        meter.take(SoundBuffer(time: 0, sampleRate: rate, channels: [samples, samples]))
        // EBU Tech 3341, test 1: ± 0.1 LU.
        #expect(abs(try #require(meter.shortTerm) + 23) <= 0.1)
        #expect(abs(try #require(meter.integrated) + 23) <= 0.1)
    }

    @Test("Loudness follows the sound after a change of its channels or its rate")
    func layouts() throws {
        func tone(_ rate: Int, _ amplitude: Double) -> [Float] {
            (0..<(rate * 6)).map { Float(amplitude * sine(1_000 * Double($0) / Double(rate))) }
        }
        for (rate, channels) in [(48_000, 2), (44_100, 1)] {
            var meter = try #require(LoudnessMeter(sampleRate: 48_000, channelCount: 1))
            meter.take(SoundBuffer(time: 0, sampleRate: 48_000, channels: [tone(48_000, 0.01)]))
            let quiet = try #require(meter.shortTerm)
            let loud = [[Float]](repeating: tone(rate, 0.1), count: channels)
            meter.take(SoundBuffer(time: 6 * second, sampleRate: rate, channels: loud))
            // Ten times the amplitude, and twice the energy with two channels.
            let difference = 20 + (channels == 2 ? 3.01 : 0)
            #expect(abs(try #require(meter.shortTerm) - quiet - difference) <= 0.1)
            // Both sounds have extremes, up to the first moment of the filters.
            #expect(abs(try #require(meter.minimumShortTerm) - quiet) <= 0.1)
            #expect(abs(try #require(meter.maximumShortTerm) - quiet - difference) <= 0.1)
            // The quiet half is more than 10 LU below.
            #expect(abs(try #require(meter.integrated) - quiet - difference) <= 0.1)
        }
    }

    @Test("Loudness ignores a buffer that cannot be measured")
    func unmeasured() throws {
        var meter = try #require(LoudnessMeter(sampleRate: 48_000, channelCount: 1))
        meter.take(SoundBuffer(time: 0, sampleRate: 48_000, channels: [[Float](repeating: 0.1, count: 48_000 * 4)]))
        let before = meter.shortTerm
        meter.take(SoundBuffer(time: 0, sampleRate: 100, channels: [[0.1]]))
        #expect(meter.shortTerm == before && meter.sampleRate == 48_000)
    }

    private func sine(_ turns: Double) -> Double {
        // Bhaskara's formula is not exact enough: a series around the nearest quarter.
        let angle = (turns - turns.rounded(.down)) * 2 * Double.pi
        let x = angle > Double.pi ? angle - 2 * Double.pi : angle
        var (term, sum) = (x, x)
        for power in stride(from: 3.0, through: 25, by: 2) {
            term *= -x * x / (power * (power - 1))
            sum += term
        }
        return sum
    }

    @Test("Silence has no integrated loudness")
    func silentMeter() throws {
        var meter = try #require(LoudnessMeter(sampleRate: 48_000, channelCount: 1))
        meter.take(SoundBuffer(time: 0, sampleRate: 48_000, channels: [[Float](repeating: 0, count: 48_000 * 4)]))
        #expect(meter.integrated == nil)
        #expect(meter.shortTerm == LoudnessMeter.silence)
    }
}
