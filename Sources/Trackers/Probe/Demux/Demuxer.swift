internal import CFFmpeg
internal import CProbeShim
internal import Instrument
internal import InstrumentHTTP

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// Opens media through libavformat and reads its packets in order. Blocks; used from one thread.
///
/// Formats and protocols are on an allow list, so that no input can make libav open another file or address.
struct Demuxer: ~Copyable {
    /// The limits of blocking steps.
    struct Timeouts: Hashable, Sendable {
        var open: Duration
        var read: Duration
    }

    /// The allowed formats, by libavformat's names.
    private static let formats = [
        "mov", "mp4", "m4a", "3gp", "3g2", "mj2", "matroska", "webm", "mpegts", "mpeg", "mp3", "aac", "ac3", "eac3",
        "flac",
        "ogg", "wav", "w64", "aiff", "caf", "flv", "avi", "asf", "amr", "mpegvideo", "h264", "hevc",
    ].joined(separator: ",")

    /// A packet of a slow source may need many reads: its limit is this multiple of the limit of one read.
    private static let patience = 4

    private let source: MediaSource
    private let interrupt: Interrupt
    private let timeouts: Timeouts
    private var input: UnsafeMutablePointer<AVIOContext>?
    private var context: UnsafeMutablePointer<AVFormatContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private var sizer: PictureSizer?
    private var tracks: [Int32: (kind: PlaybackModel.Track, base: AVRational)] = [:]
    private var timeline = Timeline(origin: nil, mayJump: false)
    private var didEnd = false
    private(set) var info = MediaInfo()

    /// Opens the source and inspects its tracks.
    init(
        opening source: MediaSource,
        timeouts: Timeouts,
        interrupt: Interrupt,
        configuration: ProbeConfiguration = ProbeConfiguration()
    ) throws(ProbeError) {
        self.source = source
        self.interrupt = interrupt
        self.timeouts = timeouts
        probe_initialize()
        try SourceCheck.check(source)
        interrupt.allow(timeouts.open)
        input = try Self.openInput(source, timeouts, interrupt, configuration)
        try SourceCheck.checkBeginning(of: input, source, interrupt)
        context = try Self.openContext(input, source, interrupt)
        packet = av_packet_alloc()
        try inspect()
    }

    deinit {
        var (context, input, packet) = (context, input, packet)
        av_packet_free(&packet)
        avformat_close_input(&context)
        avio_closep(&input)
    }

    private static func openInput(
        _ source: MediaSource,
        _ timeouts: Timeouts,
        _ interrupt: Interrupt,
        _ configuration: ProbeConfiguration
    ) throws(ProbeError) -> UnsafeMutablePointer<AVIOContext>? {
        var options: OpaquePointer?
        defer { av_dict_free(&options) }
        let url: String
        switch source.location {
        case .file(let path):
            url = "file:" + path
            av_dict_set(&options, "protocol_whitelist", "file", 0)
        case .http(let address):
            url = address
            av_dict_set(&options, "protocol_whitelist", "http,https,tcp,tls", 0)
            av_dict_set(&options, "user_agent", configuration.userAgent, 0)
            // libav ignores proxies of other kinds, and would connect to the server itself.
            if let proxy = configuration.proxyAddress, !proxy.lowercased().hasPrefix("http://") {
                let message = "a file is played through an http:// proxy only; give the address of one, or 'none'"
                throw ProbeError(.proxy, .open, source, message)
            }
            // By default, libav takes the proxy of the environment.
            if configuration.proxyAddress != nil || !configuration.usesEnvironmentProxy {
                av_dict_set(&options, "http_proxy", configuration.proxyAddress ?? "", 0)
            }
            let headers = configuration.headers.fields.map { "\($0.name): \($0.value)\r\n" }.joined()
            if !headers.isEmpty { av_dict_set(&options, "headers", headers, 0) }
            // By default, libav trusts any certificate.
            av_dict_set(&options, "tls_verify", "1", 0)
            av_dict_set(&options, "rw_timeout", String(timeouts.read.nanoseconds / 1000), 0)
        case .unsupported(let scheme):
            throw ProbeError(.unsupportedScheme, .open, source, "\(scheme) is not played; use a path, http or https")
        }
        var input: UnsafeMutablePointer<AVIOContext>?
        var callback = interrupt.callback
        let code = avio_open2(&input, url, AVIO_FLAG_READ, &callback, &options)
        if code < 0 || interrupt.hasEndedCall {
            avio_closep(&input)
            throw LibavFailure(code, interrupt).error(.open, source, through: configuration.proxyAddress)
        }
        return input
    }

    private static func openContext(
        _ input: UnsafeMutablePointer<AVIOContext>?,
        _ source: MediaSource,
        _ interrupt: Interrupt
    ) throws(ProbeError) -> UnsafeMutablePointer<AVFormatContext>? {
        var context = try openContext(input, source, interrupt, keepingEdits: true)
        guard MovieFile.hasEditsWithoutDuration(context) else { return context }
        avformat_close_input(&context)
        avio_seek(input, 0, SEEK_SET)
        return try openContext(input, source, interrupt, keepingEdits: false)
    }

    /// - Parameter keepingEdits: whether an MP4 file plays for the durations of its edits; otherwise the edits only say
    ///   where the media begin.
    private static func openContext(
        _ input: UnsafeMutablePointer<AVIOContext>?,
        _ source: MediaSource,
        _ interrupt: Interrupt,
        keepingEdits: Bool
    ) throws(ProbeError) -> UnsafeMutablePointer<AVFormatContext>? {
        var options: OpaquePointer?
        defer { av_dict_free(&options) }
        if !keepingEdits { av_dict_set(&options, "advanced_editlist", "0", 0) }
        av_dict_set(&options, "format_whitelist", formats, 0)
        av_dict_set(&options, "protocol_whitelist", "", 0)
        av_dict_set(&options, "max_streams", "64", 0)
        av_dict_set(&options, "probesize", "5000000", 0)
        // The time for which a transport stream is inspected before playback can start, in microseconds. libav's
        // default of seven seconds would count as the player's startup time. Later pictures carry their size
        // themselves.
        av_dict_set(&options, "analyzeduration", "1000000", 0)
        // Do not follow references to other files inside a container.
        av_dict_set(&options, "enable_drefs", "0", 0)
        var context = avformat_alloc_context()
        context?.pointee.pb = input
        context?.pointee.interrupt_callback = interrupt.callback
        context?.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
        // A search for the last timestamp would, over the network, request the end of the media before its start.
        if case .http = source.location { context?.pointee.skip_estimate_duration_from_pts = 1 }
        // A failed call frees the context, but not the input: `deinit` frees the input.
        let code = avformat_open_input(&context, nil, nil, &options)
        if code < 0 {
            let failure = LibavFailure(cause(of: code, input), interrupt)
            if failure.isOfContent, let input, let error = MovieIndex.error(of: input, source) { throw error }
            throw failure.error(.open, source)
        }
        return context
    }

    /// libavformat reports a failed source as damaged media; the input has the real cause.
    private static func cause(of code: Int32, _ input: UnsafeMutablePointer<AVIOContext>?) -> Int32 {
        guard let error = input?.pointee.error, error < 0, error != ffmpeg_error_eof else { return code }
        return error
    }

    private mutating func inspect() throws(ProbeError) {
        let code = avformat_find_stream_info(context, nil)
        // The call reports success after an interruption as well.
        if code < 0 || interrupt.hasEndedCall {
            throw LibavFailure(Self.cause(of: code, input), interrupt).error(.inspect, source)
        }
        guard let context, let streams = context.pointee.streams else { return }
        let video = av_find_best_stream(context, AVMEDIA_TYPE_VIDEO, -1, -1, nil, 0)
        let audio = av_find_best_stream(context, AVMEDIA_TYPE_AUDIO, -1, video, nil, 0)
        for index in 0..<Int32(clamping: context.pointee.nb_streams) {
            guard let stream = streams[Int(index)] else { continue }
            let isPicture = stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0
            if index == video, !isPicture {
                take(stream, as: .video)
            } else if index == audio {
                take(stream, as: .audio)
            } else {
                stream.pointee.discard = AVDISCARD_ALL
            }
        }
        if tracks.isEmpty {
            throw ProbeError(.unsupportedFormat, .inspect, source, "there is neither video nor audio in it")
        }
        describe(context)
    }

    private mutating func take(_ stream: UnsafeMutablePointer<AVStream>, as track: PlaybackModel.Track) {
        let parameters = stream.pointee.codecpar
        tracks[stream.pointee.index] = (track, stream.pointee.time_base)
        switch track {
        case .video:
            info.hasVideo = true
            info.width = Int(parameters?.pointee.width ?? 0)
            info.height = Int(parameters?.pointee.height ?? 0)
            let rate = av_guess_frame_rate(context, stream, nil)
            if rate.num > 0, rate.den > 0 { info.framesPerSecond = Double(rate.num) / Double(rate.den) }
            if let parameters { sizer = PictureSizer(parameters) }
        case .audio:
            info.hasAudio = true
            info.language = Self.text("language", in: stream.pointee.metadata)
        }
    }

    private mutating func describe(_ context: UnsafeMutablePointer<AVFormatContext>) {
        if context.pointee.duration != ffmpeg_no_timestamp, context.pointee.duration > 0 {
            info.duration = context.pointee.duration.saturatingMultiply(1000)
            info.isDurationEstimated = context.pointee.duration_estimation_method == AVFMT_DURATION_FROM_BITRATE
        }
        if context.pointee.bit_rate > 0 { info.bitrate = Int(context.pointee.bit_rate) }
        info.title = Self.text("title", in: context.pointee.metadata)
        info.formatName = context.pointee.iformat.map { String(cString: $0.pointee.name) } ?? ""
        let start = context.pointee.start_time == ffmpeg_no_timestamp ? nil : context.pointee.start_time
        if MovieFile.isMovie(context) {
            let first = start?.saturatingMultiply(1000) ?? 0
            let tracks = movieDuration(of: context, from: first)
            // A movie that ends before its last frame begins does not know its duration.
            let last = lastFrame(of: context).saturatingSubtract(first)
            let claimed = info.duration
            let movie = claimed.flatMap { $0 < last ? nil : $0 }
            info.duration = tracks.map { min($0, movie ?? $0) }
            // Libavformat divides the size of the file by the duration of the movie.
            if tracks == nil {
                info.bitrate = nil
            } else if movie == nil, let claimed, let duration = info.duration, let bitrate = info.bitrate {
                let rate = Double(bitrate) * Double(claimed) / Double(duration)
                info.bitrate = rate < 1e15 ? Int(rate) : nil
            }
        }
        let flags = context.pointee.iformat?.pointee.flags ?? 0
        timeline = Timeline(
            origin: start?.saturatingMultiply(1000),
            mayJump: flags & AVFMT_TS_DISCONT != 0
        )
    }

    /// The duration of the selected tracks of an MP4 file, in nanoseconds; nil if one of them is unknown.
    ///
    /// That of the whole movie (`mvhd`) may be unknown, and includes other tracks and the empty edits in front of all
    /// media, which playback leaves out.
    private func movieDuration(of context: UnsafeMutablePointer<AVFormatContext>, from start: Int64) -> Int64? {
        var end: Int64?
        for pointer in selectedStreams(of: context) {
            let stream = pointer.pointee
            // All ones are an unknown duration (ISO/IEC 14496-12, 8.3.2.3 and 8.4.2.3), which libavformat passes on.
            guard stream.duration > 0, stream.duration != Int64(UInt32.max),
                let duration = stream.time_base.nanoseconds(stream.duration)
            else { return nil }
            var last = (stream.time_base.nanoseconds(stream.start_time) ?? 0).saturatingAdd(duration)
            // The duration that libavformat gives leaves out the empty edits between media; the frames have them.
            if let final = frame(0, beforeLastOf: pointer), let earlier = frame(1, beforeLastOf: pointer) {
                let step = final.saturatingSubtract(earlier)
                if final >= last.saturatingAdd(step) { last = final.saturatingAdd(step) }
            }
            end = max(end ?? 0, last)
        }
        guard let end, end > start else { return nil }
        return end.saturatingSubtract(start)
    }

    /// The time at which the last known frame of the selected tracks begins, in nanoseconds; 0 without frames.
    private func lastFrame(of context: UnsafeMutablePointer<AVFormatContext>) -> Int64 {
        selectedStreams(of: context).reduce(0) { max($0, frame(0, beforeLastOf: $1) ?? 0) }
    }

    /// The time at which a known frame of a track begins, in nanoseconds: of the last one, or of one before it. Nil
    /// without the frame.
    private func frame(_ distance: Int32, beforeLastOf stream: UnsafeMutablePointer<AVStream>) -> Int64? {
        let place = avformat_index_get_entries_count(stream) - 1 - distance
        guard place >= 0, let entry = avformat_index_get_entry(stream, place) else { return nil }
        return stream.pointee.time_base.nanoseconds(entry.pointee.timestamp)
    }

    private func selectedStreams(
        of context: UnsafeMutablePointer<AVFormatContext>
    ) -> [UnsafeMutablePointer<AVStream>] {
        context.pointee.streams.map { streams in tracks.keys.compactMap { streams[Int($0)] } } ?? []
    }

    static func text(_ key: String, in metadata: OpaquePointer?) -> String? {
        guard let entry = av_dict_get(metadata, key, nil, 0), let value = entry.pointee.value else { return nil }
        let text = String(cString: value)
        return text.isEmpty || text == "und" ? nil : text
    }

    /// Returns the next packet of a selected track; nil at the end and after it.
    mutating func read() throws(ProbeError) -> Packet? {
        while !didEnd {
            interrupt.allow(timeouts.read * Self.patience)
            let code = av_read_frame(context, packet)
            if code == ffmpeg_error_again, !interrupt.hasEndedCall { continue }
            if code < 0 {
                didEnd = true
                try checkEnd(code)
                return nil
            }
            defer { av_packet_unref(packet) }
            if let read = understand() { return read }
        }
        return nil
    }

    /// Seeks to the keyframe at or before a position, in nanoseconds from the start.
    mutating func seek(to position: Int64) throws(ProbeError) {
        // Checked first: a failed seek of libav loses the read position.
        if input?.pointee.seekable == 0 {
            throw ProbeError(.notSeekable, .seek, source, "the source cannot be jumped in")
        }
        interrupt.allow(timeouts.read * Self.patience)
        let origin = context.map { $0.pointee.start_time == ffmpeg_no_timestamp ? 0 : $0.pointee.start_time } ?? 0
        let code = av_seek_frame(context, -1, origin.saturatingAdd(position / 1000), AVSEEK_FLAG_BACKWARD)
        if interrupt.hasEndedCall { throw LibavFailure(code, interrupt).error(.seek, source) }
        if code < 0 {
            throw ProbeError(.notSeekable, .seek, source, "cannot jump in it: \(LibavFailure.text(code))")
        }
        didEnd = false
        timeline.restart(at: position)
    }

    private mutating func understand() -> Packet? {
        guard let packet, let (track, base) = tracks[packet.pointee.stream_index] else { return nil }
        let isKeyframe = packet.pointee.flags & AV_PKT_FLAG_KEY != 0
        let size = track == .video && isKeyframe ? sizer?.size(of: packet) : nil
        let stamp = Timeline.Stamp(
            shown: base.nanoseconds(packet.pointee.pts),
            decoded: base.nanoseconds(packet.pointee.dts),
            duration: base.nanoseconds(packet.pointee.duration) ?? 0
        )
        let times = timeline.place(stamp, of: track)
        return Packet(
            track: track,
            start: times.start,
            end: times.end,
            size: Int(packet.pointee.size),
            isKeyframe: isKeyframe,
            pictureSize: size
        )
    }

    /// Distinguishes an end from an error: libav's formats often report a failure as the end.
    private func checkEnd(_ code: Int32) throws(ProbeError) {
        if interrupt.hasEndedCall { throw LibavFailure(code, interrupt).error(.read, source) }
        if let error = input?.pointee.error, error < 0, error != ffmpeg_error_eof {
            if error == -ETIMEDOUT || error == -ECONNRESET { throw LibavFailure(error, interrupt).error(.read, source) }
            // A response without a length ends with the connection, which libav's HTTP always reports as an error.
            if error == -EIO, avio_size(input) < 0 { return }
            throw ProbeError(.endedEarly, .read, source, "the data broke off: \(LibavFailure.text(error))")
        }
        if code != ffmpeg_error_eof { throw LibavFailure(code, interrupt).error(.read, source) }
        guard let context, let input else { return }
        // libavformat reports an index that is cut off as one without frames, and a fragment that is as the end.
        if MovieFile.hasNoFrames(context), let error = MovieIndex.error(of: input, source) { throw error }
        if MovieFile.isCutOff(context, input) {
            throw ProbeError(.endedEarly, .read, source, "the file ends inside a box of MP4: the rest of it is missing")
        }
    }
}

extension AVRational {
    /// 146 years: a media time beyond is a lie, and differences of times up to it fit their type.
    private static var longest: Int64 { 1 << 62 }

    /// Returns a timestamp in nanoseconds; nil without a timestamp, with an invalid time base or beyond 146 years.
    func nanoseconds(_ stamp: Int64) -> Int64? {
        guard stamp != ffmpeg_no_timestamp, num > 0, den > 0 else { return nil }
        // A result that does not fit is `Int64.min` (libavutil/mathematics.h, `av_rescale_rnd`).
        let time = av_rescale_q(stamp, self, AVRational(num: 1, den: 1_000_000_000))
        return time.magnitude <= Self.longest ? time : nil
    }
}
