/// An elementary stream of a transport stream.
struct ElementaryTrack: Sendable {
    private static let timescale: Int64 = 90_000

    let pid: UInt16
    let coding: ElementaryCoding
    /// The frames that were not yet taken out.
    private(set) var frames: [SegmentFrame] = []
    private(set) var frameCount = 0
    /// The parameter sets of a video stream, the constant fields of the headers of an audio stream.
    private(set) var configuration: [UInt8] = []
    var continuity: UInt8?
    /// The header of the packet of the elementary stream that arrives; nil between two of them.
    private(set) var header: PESHeader?
    /// The bytes behind the header, and the offset of the end of the last transport packet.
    private var bytes: [UInt8] = []
    private var end = 0
    private var hasKeyframe = false
    private var pictureSets: Set<Int> = []

    init(_ stream: ProgramMap.Stream) {
        pid = stream.pid
        coding = stream.coding
    }

    /// The bytes that have arrived of the packet, its header included.
    var unitSize: Int { bytes.count + (header?.size ?? 0) }

    mutating func begin(_ header: PESHeader) { self.header = header }

    /// Adds the payload of a transport packet.
    ///
    /// - Returns: the size of the packet so far; nil if none has begun.
    mutating func append(_ payload: UnsafeRawBufferPointer, endingAt end: Int) -> Int? {
        guard header != nil else { return nil }
        bytes.append(contentsOf: payload)
        self.end = end
        return unitSize
    }

    /// Takes the frames of the packet, which is complete; false in doubt.
    mutating func takeUnit(_ header: PESHeader) -> Bool {
        // The buffer is used again for the next packet.
        var unit: [UInt8] = []
        swap(&unit, &bytes)
        self.header = nil
        let isRead = unit.withUnsafeBytes { bytes in
            coding.track == .video ? takePicture(bytes, header) : takeSound(bytes, header)
        }
        unit.removeAll(keepingCapacity: true)
        bytes = unit
        return isRead
    }

    /// The frames since the last call.
    mutating func takeFrames() -> [SegmentFrame] {
        defer { frames = [] }
        return frames
    }

    private mutating func takePicture(_ bytes: UnsafeRawBufferPointer, _ header: PESHeader) -> Bool {
        let picture = AccessUnit.read(bytes, coding, hasKeyframe: hasKeyframe, pictureSets: pictureSets)
        guard let picture else { return false }
        pictureSets = picture.pictureSets ?? []
        if configuration.isEmpty {
            // Without parameter sets, libavformat does not recognize pictures.
            configuration = picture.parameterSets
        } else if !picture.parameterSets.isEmpty, picture.parameterSets != configuration {
            return false
        }
        hasKeyframe = hasKeyframe || picture.isKeyframe
        add(decoded: header.decoded, shown: header.shown, isKeyframe: picture.isKeyframe, at: end)
        return !configuration.isEmpty
    }

    private mutating func takeSound(_ bytes: UnsafeRawBufferPointer, _ header: PESHeader) -> Bool {
        guard let found = AudioFrames(bytes, coding) else { return false }
        let frame = found.first
        let constant = withUnsafeBytes(of: frame.constant.bigEndian) { [UInt8]($0) }
        guard configuration.isEmpty || configuration == constant else { return false }
        configuration = constant
        // The header of AAC does not say for certain how long a frame plays, so that libavformat computes no times.
        let step = coding == .aac ? nil : frame.sampleCount * Self.timescale / frame.sampleRate
        for number in 0..<Int64(found.count) {
            if number > 0, step == nil {
                frames.append(SegmentFrame(isKeyframe: true, offset: end))
                frameCount += 1
            } else {
                let time = header.shown + number * (step ?? 0)
                add(decoded: time, shown: time, isKeyframe: true, at: end)
            }
        }
        return true
    }

    private mutating func add(decoded: Int64, shown: Int64, isKeyframe: Bool, at offset: Int) {
        var frame = SegmentFrame(isKeyframe: isKeyframe, offset: offset)
        if let decoded = decoded.roundedNanoseconds(timescale: Self.timescale),
            let shown = shown.roundedNanoseconds(timescale: Self.timescale)
        {
            frame.times = SegmentFrame.Times(decoded: decoded, shown: shown)
        }
        frames.append(frame)
        frameCount += 1
    }
}
