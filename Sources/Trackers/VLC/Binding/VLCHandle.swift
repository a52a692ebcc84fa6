#if canImport(CVLC)
internal import CVLC
internal import CVLCShim
internal import Instrument

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Owns a media player of libVLC's: retained once, released once.
final class VLCHandle: VLCLibrary {
    private struct Resources {
        var player: Address?
        var log: Address?
    }

    private let instance: Address?
    private let resources: Lock<Resources>

    /// An address that threads may share: libVLC's functions may be called on any thread.
    private struct Address: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    /// The events of the player that are observed.
    private static let events: [libvlc_event_e] = [
        libvlc_MediaPlayerMediaChanged, libvlc_MediaPlayerOpening, libvlc_MediaPlayerBuffering,
        libvlc_MediaPlayerPlaying, libvlc_MediaPlayerPaused, libvlc_MediaPlayerStopped, libvlc_MediaPlayerEndReached,
        libvlc_MediaPlayerEncounteredError, libvlc_MediaPlayerTimeChanged, libvlc_MediaPlayerPositionChanged,
        libvlc_MediaPlayerLengthChanged, libvlc_MediaPlayerVout, libvlc_MediaPlayerESSelected,
        libvlc_MediaPlayerMuted, libvlc_MediaPlayerUnmuted, libvlc_MediaPlayerAudioVolume,
    ]

    init(_ player: OpaquePointer, logsOf instance: OpaquePointer?) {
        libvlc_media_player_retain(player)
        self.instance = instance.map(Address.init)
        if let instance { libvlc_retain(instance) }
        resources = Lock(Resources(player: Address(pointer: player)))
    }

    /// The handle; nil after the release. The queue of the watch alone calls and releases, so that the handle stays
    /// while it is used.
    private var player: OpaquePointer? { resources.withLock { $0.player }?.pointer }

    func observe(token: UInt) -> Bool {
        guard let player, let manager = libvlc_media_player_event_manager(player) else { return false }
        let context = UnsafeMutableRawPointer(bitPattern: token)
        var isComplete = true
        for event in Self.events where libvlc_event_attach(manager, Self.type(event), Self.callback, context) != 0 {
            isComplete = false
        }
        guard let instance else { return isComplete }
        let log = vlc_shim_log_begin(instance.pointer, Self.errorLevel, Self.messageCallback, context)
            .map(Address.init)
        resources.withLock { $0.log = log }
        return isComplete && log != nil
    }

    func endObserving(token: UInt) {
        guard let player, let manager = libvlc_media_player_event_manager(player) else { return }
        let context = UnsafeMutableRawPointer(bitPattern: token)
        for event in Self.events { libvlc_event_detach(manager, Self.type(event), Self.callback, context) }
        let log = resources.withLock { resources in
            defer { resources.log = nil }
            return resources.log
        }
        if let log { vlc_shim_log_end(log.pointer) }
    }

    func release() {
        let player = resources.withLock { resources in
            defer { resources.player = nil }
            return resources.player
        }
        guard let player else { return }
        libvlc_media_player_release(player.pointer)
        if let instance { libvlc_release(instance.pointer) }
    }

    // MARK: - Reading

    private func withMedia<Result>(_ body: (OpaquePointer) -> Result?) -> Result? {
        guard let player, let media = libvlc_media_player_get_media(player) else { return nil }
        defer { libvlc_media_release(media) }
        return body(media)
    }

    func media() -> VLCMedia? {
        withMedia { media in
            let source = Self.text(libvlc_media_get_mrl(media)).map { SourceText.location($0) }
            return VLCMedia(source: source, title: Self.title(of: media, source))
        }
    }

    /// The media's own title. Without one libVLC takes the end of the address, where secrets may stand in the query.
    private static func title(of media: OpaquePointer, _ source: String?) -> String? {
        guard let title = text(libvlc_media_get_meta(media, libvlc_meta_Title)) else { return nil }
        guard let address = text(libvlc_media_get_mrl(media)) else { return title }
        let pattern = BytePattern(title.utf8)
        let isFromAddress =
            pattern.isContained(in: address.utf8)
            || pattern.isContained(in: SourceText.decoded(address[...]).utf8)
        return isFromAddress ? SourceText.fileName(source ?? address) : title
    }

    func isPaused() -> Bool? {
        guard let player else { return nil }
        // The state stays until the input has ended, which can take seconds; this call waits for the end.
        _ = libvlc_media_player_get_length(player)
        return switch libvlc_media_player_get_state(player) {
        case libvlc_Paused: true
        case libvlc_Opening, libvlc_Buffering, libvlc_Playing: false
        default: nil
        }
    }

    func counters() -> VLCCounters? {
        withMedia { media in
            var counters = libvlc_media_stats_t()
            guard libvlc_media_get_stats(media, &counters) != 0 else { return nil }
            return VLCCounters(
                displayed: Int(counters.i_displayed_pictures),
                decodedVideo: Int(counters.i_decoded_video),
                decodedAudio: Int(counters.i_decoded_audio),
                playedAudio: Int(counters.i_played_abuffers),
                lost: Int(counters.i_lost_pictures)
            )
        }
    }

    func rate() -> Double { player.map { Double(libvlc_media_player_get_rate($0)) } ?? 1 }

    func length() -> Int64 { player.map { max(0, libvlc_media_player_get_length($0)) } ?? 0 }

    func tracks() -> VLCTracks? {
        guard let player else { return nil }
        var result = VLCTracks()
        var (width, height): (UInt32, UInt32) = (0, 0)
        if libvlc_video_get_size(player, 0, &width, &height) == 0, width > 0, height > 0 {
            (result.width, result.height) = (Int(width), Int(height))
        }
        let selected = [
            libvlc_video_get_track(player), libvlc_audio_get_track(player), libvlc_video_get_spu(player),
        ]
        _ = withMedia { media -> Bool? in
            var list: UnsafeMutablePointer<UnsafeMutablePointer<libvlc_media_track_t>?>?
            let count = libvlc_media_tracks_get(media, &list)
            guard count > 0, let list else { return nil }
            defer { libvlc_media_tracks_release(list, count) }
            for track in UnsafeBufferPointer(start: list, count: Int(count)) {
                guard let track = track?.pointee, selected.contains(track.i_id) else { continue }
                result.add(track)
            }
            return true
        }
        return result
    }

    /// Copies a text of libVLC's and frees it.
    private static func text(_ pointer: UnsafeMutablePointer<CChar>?) -> String? {
        guard let pointer else { return nil }
        defer { libvlc_free(pointer) }
        return String(cString: pointer)
    }

    // MARK: - libVLC's callbacks

    private static let errorLevel = Int32(LIBVLC_ERROR.rawValue)

    private static func type(_ event: libvlc_event_e) -> libvlc_event_type_t { libvlc_event_type_t(event.rawValue) }

    private static var thread: UInt {
        #if canImport(Glibc)
        UInt(pthread_self())
        #else
        UInt(bitPattern: pthread_self())
        #endif
    }

    static let callback: @convention(c) (UnsafePointer<libvlc_event_t>?, UnsafeMutableRawPointer?) -> Void = {
        event,
        context in
        guard let event, let kind = VLCEvent.Kind(event.pointee) else { return }
        VLCCallback.take(kind, token: UInt(bitPattern: context), thread: VLCHandle.thread)
    }

    private static let messageCallback:
        @convention(c) (UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Void = {
            context,
            _,
            module,
            text in
            guard let text else { return }
            let message = module.map { String(cString: $0) + ": " } ?? ""
            let kind = VLCEvent.Kind.message(message + String(cString: text))
            VLCCallback.take(kind, token: UInt(bitPattern: context), thread: VLCHandle.thread)
        }
}

extension VLCEvent.Kind {
    /// Copies an event; nil for those that are not observed.
    init?(_ event: libvlc_event_t) {
        switch libvlc_event_e(UInt32(bitPattern: event.type)) {
        case libvlc_MediaPlayerMediaChanged: self = .mediaChanged
        case libvlc_MediaPlayerOpening: self = .opening
        case libvlc_MediaPlayerBuffering: self = .buffering(percent: Double(event.u.media_player_buffering.new_cache))
        case libvlc_MediaPlayerPlaying: self = .playing
        case libvlc_MediaPlayerPaused: self = .paused
        case libvlc_MediaPlayerStopped: self = .stopped
        case libvlc_MediaPlayerEndReached: self = .endReached
        case libvlc_MediaPlayerEncounteredError: self = .failed
        case libvlc_MediaPlayerTimeChanged: self = .time(milliseconds: event.u.media_player_time_changed.new_time)
        case libvlc_MediaPlayerPositionChanged:
            self = .position(Double(event.u.media_player_position_changed.new_position))
        case libvlc_MediaPlayerLengthChanged:
            self = .length(milliseconds: event.u.media_player_length_changed.new_length)
        case libvlc_MediaPlayerVout: self = .pictureOutputs(Int(event.u.media_player_vout.new_count))
        case libvlc_MediaPlayerESSelected: self = .trackSelected
        case libvlc_MediaPlayerMuted: self = .muted(true)
        case libvlc_MediaPlayerUnmuted: self = .muted(false)
        case libvlc_MediaPlayerAudioVolume: self = .volume(Double(event.u.media_player_audio_volume.volume))
        default: return nil
        }
    }
}

extension VLCTracks {
    fileprivate mutating func add(_ track: libvlc_media_track_t) {
        let language = track.psz_language.map { String(cString: $0) }
        bitrate = track.i_bitrate > 0 ? (bitrate ?? 0) + Int(track.i_bitrate) : bitrate
        switch track.i_type {
        case libvlc_track_video:
            guard let video = track.video?.pointee, video.i_frame_rate_num > 0, video.i_frame_rate_den > 0 else {
                return
            }
            framesPerSecond = Double(video.i_frame_rate_num) / Double(video.i_frame_rate_den)
        case libvlc_track_audio: self.language = language
        case libvlc_track_text: subtitles = language
        default: break
        }
    }
}
#endif
