import Instrument
import InstrumentFrameCode
import InstrumentTestKit
import Testing

@Suite("The code in frames")
struct FrameCodeTests {
    /// A grey picture with the code of a number, on a background of noise.
    private static func picture(
        of number: Int,
        width: Int,
        height: Int,
        stride: Int,
        black: UInt8 = 16,
        white: UInt8 = 235,
        noise: Int = 0
    ) -> [UInt8] {
        var random = SeededGenerator(seed: UInt64(number))
        var bytes = (0..<(stride * height)).map { _ in UInt8.random(in: 0...255, using: &random) }
        let cells = FrameCode.cells(of: number)
        let codeHeight = Int(Double(height) * FrameCode.height)
        for y in 0..<codeHeight {
            for x in 0..<width {
                let cell = y * FrameCode.rows / codeHeight * FrameCode.columns + x * FrameCode.columns / width
                let level = Int(cells[cell] ? white : black) + Int.random(in: -noise...noise, using: &random)
                bytes[y * stride + x] = UInt8(clamping: level)
            }
        }
        return bytes
    }

    private static func read(_ bytes: [UInt8], _ layout: PictureLayout) -> Int? {
        bytes.withUnsafeBytes { FrameCode.number(in: $0, layout: layout) }
    }

    @Test(
        "A number is read back from its cells, and repeats after 24 bits",
        arguments: [0, 1, 599, 4_711, (1 << 24) - 1]
    )
    func roundTrip(number: Int) {
        let cells = FrameCode.cells(of: number)
        #expect(cells.count == 40)
        #expect(FrameCode.number(of: cells) == number)
        #expect(FrameCode.cells(of: number + FrameCode.count) == cells)
    }

    @Test("A code with up to three wrong cells is no code")
    func wrongCells() {
        let cells = FrameCode.cells(of: 1_234_567)
        for first in cells.indices {
            for second in cells.indices {
                for third in [first, second, 17, 35] {
                    var damaged = cells
                    for cell in Set([first, second, third]) { damaged[cell].toggle() }
                    #expect(FrameCode.number(of: damaged) == nil, "\(first) \(second) \(third)")
                }
            }
        }
        #expect(FrameCode.number(of: Array(cells.dropLast())) == nil)
        #expect(FrameCode.number(of: [Bool](repeating: false, count: 40)) == nil)
        #expect(FrameCode.number(of: [Bool](repeating: true, count: 40)) == nil)
    }

    @Test(
        "A number is read from pictures of any size with padding, noise and little contrast",
        arguments: [(80, 45), (320, 180), (854, 480), (1_921, 1_081)]
    )
    func sizes(width: Int, height: Int) {
        for number in [0, 77, 600, 1 << 20] {
            let bytes = Self.picture(
                of: number,
                width: width,
                height: height,
                stride: width + 13,
                black: 60,
                white: 180,
                noise: 30
            )
            #expect(Self.read(bytes, .luma(width: width, height: height, stride: width + 13)) == number)
        }
    }

    @Test("A number is read from pixels of red, green and blue with a fourth byte")
    func colours() {
        let grey = Self.picture(of: 4_242, width: 320, height: 180, stride: 320)
        let pixels: [UInt8] = grey.flatMap { [$0, $0, $0, 0xFF] as [UInt8] }
        #expect(Self.read(pixels, .rgb(width: 320, height: 180, pixelLength: 4)) == 4_242)
        #expect(Self.read(pixels, .rgb(width: 320, height: 180)) == nil)
    }

    @Test("Pictures without a code, half of two frames, or with an impossible layout have no number")
    func illegible() {
        let (width, height) = (320, 180)
        let layout = PictureLayout.luma(width: width, height: height)
        var random = SeededGenerator(seed: 1)
        for _ in 0..<200 {
            let noise = (0..<(width * height)).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(Self.read(noise, layout) == nil)
        }
        #expect(Self.read([UInt8](repeating: 16, count: width * height), layout) == nil)
        let (one, two) = (
            Self.picture(of: 1_000, width: width, height: height, stride: width),
            Self.picture(of: 2_111, width: width, height: height, stride: width)
        )
        let mixed = zip(one, two).map { UInt8((Int($0) + Int($1)) / 2) }
        #expect(Self.read(mixed, layout) == nil)
        #expect(Self.read(Array(one.dropLast()), layout) == nil)
        for bad in [
            PictureLayout.luma(width: 0, height: 180), .luma(width: 320, height: -1),
            .luma(width: 320, height: 180, stride: 319), .rgb(width: .max, height: .max),
            .luma(width: 1, height: .max, stride: .max),
            PictureLayout(width: 4, height: 4, stride: 16, pixelLength: 1, channels: 0..<3),
        ] {
            #expect(Self.read(one, bad) == nil, "\(bad)")
        }
    }
}

@Suite("The eye")
struct PlaybackEyeTests {
    private static func eye(_ frames: [(number: Int?, milliseconds: Int64)]) -> PlaybackEye {
        var eye = PlaybackEye()
        for frame in frames {
            eye.saw(frame.number, at: MonotonicInstant(nanoseconds: frame.milliseconds * 1_000_000))
        }
        return eye
    }

    private static func frames(_ numbers: Range<Int>, from begin: Int64) -> [(number: Int?, milliseconds: Int64)] {
        numbers.map { ($0, begin + Int64($0 - numbers.lowerBound) * 40) }
    }

    private static func times(_ eye: PlaybackEye) -> [[Int64]] {
        eye.motions.map { [$0.begin.milliseconds, $0.end.milliseconds] }
    }

    @Test("Frames that follow one another are one motion, however often each is seen")
    func motion() {
        let frames = Self.frames(0..<50, from: 1_000).flatMap { [$0, ($0.number, $0.milliseconds + 20)] }
        let eye = Self.eye(frames)
        #expect(Self.times(eye) == [[1_000, 3_000]])
        #expect(eye.sightings.count == 50)
    }

    @Test("A picture that is shown before the clock runs is no motion: at the start, and after a stall")
    func preroll() {
        let eye = Self.eye(
            [(0, 100)] + Self.frames(1..<26, from: 800) + [(26, 5_000)] + Self.frames(27..<52, from: 5_900)
        )
        #expect(Self.times(eye) == [[800, 1_800], [5_900, 6_900]])
    }

    @Test("A first frame that stands for a moment does not run yet")
    func standingFirst() {
        #expect(Self.times(Self.eye([(0, 900)] + Self.frames(1..<26, from: 1_030))) == [[990, 2_030]])
    }

    @Test("Dropped frames are no gap; a jump is, and a loop to 0 is none")
    func jumps() {
        let dropped = Self.eye(Self.frames(0..<10, from: 0) + Self.frames(12..<22, from: 480))
        #expect(Self.times(dropped) == [[0, 880]])
        let jumped = Self.eye(Self.frames(0..<10, from: 0) + Self.frames(200..<210, from: 400))
        #expect(Self.times(jumped) == [[0, 400], [400, 800]])
        let looped = Self.eye(Self.frames(590..<600, from: 0) + Self.frames(0..<10, from: 400))
        #expect(Self.times(looped) == [[0, 800]])
    }

    @Test("Illegible pictures are counted and change nothing")
    func illegible() {
        let eye = Self.eye(Self.frames(0..<3, from: 0) + [(nil, 100)] + Self.frames(3..<6, from: 120))
        #expect(Self.times(eye) == [[0, 240]])
        #expect(eye.illegibleCount == 1)
    }

    @Test("The ear counts samples, and nothing that is no count")
    func samples() {
        var ear = SampleCounter()
        let now = MonotonicInstant(nanoseconds: 5)
        ear.heard(-5, at: now)
        #expect(ear.begin == nil)
        ear.heard(24_000, at: now)
        ear.heard(24_000, at: now.advanced(by: .seconds(1)))
        #expect(ear.duration == .seconds(1) && ear.begin == now)
        ear.heard(.max, at: now)
        ear.heard(.max, at: now)
        #expect(ear.count == .max)
    }
}
