#if canImport(CVLC)
internal import CVLC
package import Instrument
package import InstrumentFrameCode
package import InstrumentVLC
package import TruthStage

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A real libVLC without a window and without a sound device: an eye reads the code of each picture that libVLC
/// displays (vmem), an ear counts the samples (amem), and a tracker watches.
package final class RealVLC: RealPlayer {
    /// Why libVLC cannot be used.
    package struct Unusable: Error, CustomStringConvertible {
        package let description: String
    }

    package static var version: String { String(cString: libvlc_get_version()) }

    private struct Address: @unchecked Sendable { let pointer: OpaquePointer }

    private let instance: Address
    private let player: Address
    private let sink = Sink()
    package let journal = SignalJournal()
    /// The tracker's player.
    package let tracked: VLCPlayer
    /// The diagnostics of the tracker.
    package let diagnostics = Lock<[VLCDiagnostic]>([])

    /// Prepares a player of an address; it plays after ``play()``.
    package init(_ address: String, options: [String] = []) throws {
        let arguments = ["--quiet", "--no-xlib", "--no-video-title-show", "--no-lua"] + options
        let texts = arguments.map { UnsafePointer(strdup($0)) }
        defer { texts.forEach { free(UnsafeMutableRawPointer(mutating: $0)) } }
        guard let instance = libvlc_new(Int32(texts.count), texts) else {
            throw Unusable(description: "libVLC cannot be started: are its plugins (vlc-plugin-base) installed?")
        }
        guard let media = libvlc_media_new_location(instance, address),
            let player = libvlc_media_player_new_from_media(media)
        else { throw Unusable(description: "libVLC takes no media") }
        libvlc_media_release(media)
        (self.instance, self.player) = (Address(pointer: instance), Address(pointer: player))
        let context = Unmanaged.passUnretained(sink).toOpaque()
        libvlc_video_set_format(player, "I420", UInt32(Sink.width), UInt32(Sink.height), UInt32(Sink.width))
        libvlc_video_set_callbacks(player, Sink.lock, nil, Sink.display, context)
        libvlc_audio_set_format(player, "S16N", 48_000, 2)
        libvlc_audio_set_callbacks(player, Sink.playSound, nil, nil, nil, nil, context)
        tracked = VLCPlayer(player, logsOf: instance) { [diagnostics] diagnostic in
            diagnostics.withLock { $0.append(diagnostic) }
        }
    }

    /// Reports signals from now on, and returns once the observation has begun.
    package func observe() {
        tracked.report { [journal] in journal.append($0) }
        tracked.settle()
    }

    package func play() { libvlc_media_player_play(player.pointer) }
    package func pause(_ isPaused: Bool) { libvlc_media_player_set_pause(player.pointer, isPaused ? 1 : 0) }
    package func seek(toMilliseconds time: Int64) { libvlc_media_player_set_time(player.pointer, time) }
    package func setRate(_ rate: Float) { libvlc_media_player_set_rate(player.pointer, rate) }
    package func stop() { libvlc_media_player_stop(player.pointer) }

    /// Gives the app's reference to the player back, as an app does at its end. Nothing may be called afterwards.
    package func release() {
        libvlc_media_player_stop(player.pointer)
        libvlc_media_player_release(player.pointer)
        libvlc_release(instance.pointer)
    }

    package func end() {
        tracked.close()
        tracked.settle()
        release()
    }

    package var eye: PlaybackEye { sink.seen.withLock { $0.eye } }
    /// What the ear has heard.
    package var ear: SampleCounter { sink.seen.withLock { $0.ear } }
}

/// The picture and the sound that libVLC gives out.
private final class Sink: Sendable {
    static let width = 320
    static let height = 180

    struct Seen {
        var eye = PlaybackEye()
        var ear = SampleCounter()
    }

    let seen = Lock(Seen())
    /// One picture: libVLC asks for the memory of the next one after it has displayed the last. All three planes have
    /// the rows and the stride of the first, as libVLC lays them out for a given format.
    nonisolated(unsafe) private let memory = UnsafeMutableRawBufferPointer.allocate(
        byteCount: width * height * 3,
        alignment: 32
    )
    private let layout = PictureLayout.luma(width: width, height: height)

    deinit { memory.deallocate() }

    private static func of(_ context: UnsafeMutableRawPointer?) -> Sink? {
        context.map { Unmanaged<Sink>.fromOpaque($0).takeUnretainedValue() }
    }

    static let lock:
        @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?)
            -> UnsafeMutableRawPointer? = { context, planes in
                guard let base = Sink.of(context)?.memory.baseAddress, let planes else { return nil }
                for plane in 0..<3 { planes[plane] = base + plane * width * height }
                return nil
            }

    static let display: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = { context, _ in
        guard let sink = Sink.of(context) else { return }
        let now = SystemClock().now
        let number = FrameCode.number(in: UnsafeRawBufferPointer(sink.memory), layout: sink.layout)
        sink.seen.withLock { $0.eye.saw(number, at: now) }
    }

    static let playSound: @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?, UInt32, Int64) -> Void = {
        context,
        _,
        count,
        _ in
        let now = SystemClock().now
        Sink.of(context)?.seen.withLock { $0.ear.heard(Int(count), at: now) }
    }
}
#endif
