/// The content of a segment, for a caller that checks streams instead of playing them.
///
/// Blocks for about a millisecond; safe from any thread.
package struct SegmentInspection: Sendable {
    /// A track with pictures or sound. Times are nanoseconds of the container's timeline.
    package struct Track: Sendable {
        /// Whether the track has pictures; otherwise it has sound.
        package var isVideo: Bool
        /// The codec as libavcodec names it.
        package var codec: String
        /// The instant at which the first frame is shown.
        package var start: Int64
        /// The instant at which the last frame ends.
        package var end: Int64
        /// The largest gap between two frames, in nanoseconds.
        package var largestGap: Int64
        /// Whether the first frame is a keyframe.
        package var startsWithKeyframe: Bool
        /// The size of the pictures; nil if unknown, and for sound.
        package var size: (width: Int, height: Int)?
        /// The width of a sample of a picture, divided by its height; nil if unknown.
        package var sampleAspect: Double?
        /// The frames of a second; nil where they vary, for sound, and unless the pictures were described.
        package var framesPerSecond: Double?
        /// The transfer characteristics of pictures (ISO/IEC 23091-2), 2 where the media does not say; nil for sound,
        /// and unless the pictures were described.
        package var transfer: Int?
        /// The number of channels; nil if unknown, and for pictures.
        package var channelCount: Int?
        /// The sampling rate in Hz; nil if unknown, and for pictures.
        package var sampleRate: Int?
    }

    /// The reason for which browsers do not play a segment, whatever player is in them.
    package struct Refusal: Sendable {
        /// What the media has, as a sentence.
        package var found: String
        /// What browsers expect instead, as a noun.
        package var expected: String
        /// What to do.
        package var remedy: String
        /// Whether every browser refuses the whole segment; otherwise some browsers do, or players in browsers leave
        /// out a track.
        package var isWhole: Bool
    }

    /// The reason for which a segment cannot be inspected.
    package enum Failure: Error, Sendable {
        /// The bytes are no media of a known kind, or hold neither pictures nor sound.
        case unreadable(String)
        /// All tracks have these codecs, which libavformat does not demux: no fault of the stream.
        case undemuxable([String])
        /// The key does not fit the segment.
        case undecipherable
    }

    /// The first track of each kind that has frames.
    package let tracks: [Track]
    /// Whether the container declares pictures, with or without frames.
    package let declaresVideo: Bool
    /// Whether the container declares sound, with or without frames.
    package let declaresAudio: Bool
    /// Whether timestamps say where the segment belongs.
    package let hasTimeline: Bool
    /// The interval after which timestamps wrap to zero, in nanoseconds; nil where they do not wrap.
    package let wrap: Int64?
    /// Whether the bytes end inside a packet or a box.
    package let isTruncated: Bool
    /// The number of fragments (`moof`) of fragmented MP4; 0 for other media.
    package let chunkCount: Int
    /// The number of places at which packets of a media track are missing, by their counters; 0 for other media.
    package let packetGaps: Int
    /// Whether a transport stream has no tables: neither in its packets nor in an initialization section.
    package let lacksTables: Bool
    /// The reason for which browsers refuse the segment; nil without one, or in doubt.
    package let refusal: Refusal?

    /// Demuxes a segment.
    ///
    /// - Parameters:
    ///   - media: the segment.
    ///   - initialization: the initialization section; empty for a segment without one.
    ///   - describesPictures: whether to determine the rate and the transfer characteristics of pictures as well, for
    ///     which a picture may be decoded.
    package init(media: [UInt8], initialization: [UInt8], describingPictures describesPictures: Bool = false)
        throws(Failure)
    {
        let look: SegmentLook
        do {
            look = try SegmentDemuxer.look(
                at: FetchedBytes(media),
                initialization: initialization,
                inspecting: describesPictures
            )
        } catch {
            switch error {
            case .unknownFormat: throw .unreadable(Self.unknown(media, initialization))
            case .noTracks(let codecs) where !codecs.isEmpty: throw .undemuxable(codecs)
            case .noTracks:
                let isOther = !initialization.isEmpty && media.withUnsafeBytes { SegmentFormat($0) } == .other
                let defect = media.withUnsafeBytes { FragmentOrder($0).defect }
                throw .unreadable(
                    defect ?? (isOther ? "bytes of an unknown format" : "a container without pictures and sound")
                )
            case .outOfMemory: throw .unreadable("a segment for which there is no memory")
            }
        }
        let content = look.content
        var tracks: [Track] = []
        if let video = content.video {
            var track = Self.track(video, isVideo: true)
            track.framesPerSecond = look.pictureFormat?.framesPerSecond
            track.transfer = look.pictureFormat?.transfer
            tracks.append(track)
        }
        if let audio = content.audio {
            var track = Self.track(audio, isVideo: false)
            (track.channelCount, track.sampleRate) = (look.audioFormat?.channelCount, look.audioFormat?.sampleRate)
            tracks.append(track)
        }
        self.tracks = tracks
        declaresVideo = content.streams.contains(.video)
        declaresAudio = content.streams.contains(.audio)
        hasTimeline = content.hasTimeline
        wrap = content.wrap
        isTruncated = media.withUnsafeBytes { ContainerEnd.isInside($0) }
        lacksTables = initialization.isEmpty && media.withUnsafeBytes { Self.lacksTables($0) }
        packetGaps = media.withUnsafeBytes { PacketGaps.count(in: $0) }
        chunkCount = media.withUnsafeBytes { Self.chunkCount($0) }
        refusal = Self.refusal(of: media, content, initialization)
    }

    /// Why a segment cannot be demuxed at all, as far as its bytes tell.
    private static func unknown(_ media: [UInt8], _ initialization: [UInt8]) -> String {
        guard !initialization.isEmpty, media.withUnsafeBytes({ SegmentFormat($0) }) == .isoBaseMedia else {
            return "bytes of an unknown format"
        }
        if let defect = media.withUnsafeBytes({ FragmentOrder($0).defect }) { return defect }
        do throws(MediaRefusal) {
            _ = try InitializationCheck(initialization)
            return "fragments of MP4 that do not fit their initialization segment"
        } catch {
            return "fragments of MP4 for which \(error.found)"
        }
    }

    private static func chunkCount(_ media: UnsafeRawBufferPointer) -> Int {
        guard SegmentFormat(media) == .isoBaseMedia else { return 0 }
        var count = 0
        _ = Box.all(in: media) { type, _ in
            if type == "moof" { count += 1 }
            return true
        }
        return count
    }

    /// Reads no more of a packet than where its section begins: a counter that jumps does not matter here.
    private static func lacksTables(_ media: UnsafeRawBufferPointer) -> Bool {
        guard SegmentFormat(media) == .transportStream else { return false }
        let size = TransportPacket.size
        var (mapPID, begun) = (UInt16?.none, Set<UInt16>())
        for start in stride(from: 0, through: media.count - size, by: size) {
            let packet = UnsafeRawBufferPointer(rebasing: media[start..<(start + size)])
            let (startsUnit, hasPayload) = (packet[1] & 0x40 != 0, packet[3] & 0x10 != 0)
            let offset = packet[3] & 0x20 != 0 ? 5 + Int(packet[4]) : 4
            guard packet[0] == 0x47, startsUnit, hasPayload, offset < size else { continue }
            let pid = UInt16(packet[1] & 0x1F) << 8 | UInt16(packet[2])
            begun.insert(pid)
            if pid == 0, mapPID == nil {
                // With several programs, or a table that is damaged, the map is in doubt.
                let section = UnsafeRawBufferPointer(rebasing: packet[offset...])
                guard let found = ProgramAssociation.mapPID(in: section) else { return false }
                mapPID = found
            }
            if let mapPID, begun.contains(mapPID) { return false }
        }
        return true
    }

    private static func refusal(of media: [UInt8], _ content: SegmentContent, _ initialization: [UInt8]) -> Refusal? {
        let finding = SegmentAcceptance.finding(in: media, content, initialization: initialization, transmuxer: nil)
        guard let finding else { return nil }
        let isChromium = finding.refusal.ground == .chromium
        return Refusal(
            found: finding.refusal.found + (isChromium ? ", which Chromium and Edge refuse" : ""),
            expected: finding.refusal.expected,
            remedy: finding.refusal.remedy,
            isWhole: finding.isWhole && !isChromium
        )
    }

    private static func track(_ content: TrackContent, isVideo: Bool) -> Track {
        Track(
            isVideo: isVideo,
            codec: content.codec,
            start: content.start,
            end: content.end,
            largestGap: content.largestGap,
            startsWithKeyframe: content.startsWithKeyframe,
            size: content.pictureSize.map { ($0.width, $0.height) },
            sampleAspect: content.sampleAspect
        )
    }

    /// Whether bytes are media of which only the beginning is damaged, as a wrong IV leaves them: a transport stream
    /// with an invalid first packet, or with a wrong checksum in it; a fragment whose first box has invalid content.
    package static func hasDamagedStart(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            switch SegmentFormat(bytes) {
            case .transportStream: ProgramTables.isDamaged(inPacket: bytes)
            case .isoBaseMedia: isDamagedBox(bytes)
            case .other:
                bytes.count > 2 * TransportPacket.size && bytes[0] != 0x47
                    && stride(
                        from: TransportPacket.size,
                        to: min(bytes.count, 4 * TransportPacket.size),
                        by: TransportPacket.size
                    ).allSatisfy { bytes[$0] == 0x47 }
            }
        }
    }

    private static func isDamagedBox(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let box = Box(bytes, at: 0), box.content.upperBound <= bytes.count else { return true }
        let content = UnsafeRawBufferPointer(rebasing: bytes[box.content])
        switch box.type {
        case "moof": return Box(content, at: 0).map { $0.type != "mfhd" } ?? true
        case "ftyp", "styp": return content.count < 8 || !content[..<4].allSatisfy { 0x20..<0x7F ~= $0 }
        default: return false
        }
    }

    /// What shows that bytes are no initialization segment, as a noun; nil for one, and in doubt.
    package static func defect(ofInitialization bytes: [UInt8]) -> String? {
        bytes.withUnsafeBytes { bytes in
            guard SegmentFormat(bytes) == .isoBaseMedia else { return nil }
            if let movie = BoxReading("file", bytes).first("moov") { return timelessTrack(in: movie) }
            return ContainerEnd.isInside(bytes)
                ? "\(bytes.count) bytes, which end inside a box," : "MP4 without the box `moov`"
        }
    }

    /// The track of a movie whose times have no unit, as a noun: each reader gives the times another one.
    private static func timelessTrack(in movie: BoxReading) -> String? {
        for (place, track) in movie.all("trak").enumerated() {
            guard let header = track.first("mdia")?.first("mdhd")?.bytes,
                header.unsigned32(at: header.first == 1 ? 20 : 12) == 0
            else { continue }
            return "MP4 whose track \(place + 1) has a time scale of 0 (`mdhd`)"
        }
        return nil
    }

    /// Whether bytes begin as a transport stream or a fragmented MP4 file does, so that they are not encrypted.
    package static func beginsPlainly(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { SegmentFormat($0) } != .other
    }

    /// Decrypts a segment that is encrypted as a whole (AES-128-CBC).
    package static func decrypt(
        _ bytes: [UInt8],
        key: [UInt8],
        initializationVector: [UInt8]
    ) throws(Failure) -> [UInt8] {
        let plain = SegmentCipher.decrypt(bytes, key: key, initializationVector: initializationVector)
        guard let plain else { throw .undecipherable }
        return plain
    }
}
