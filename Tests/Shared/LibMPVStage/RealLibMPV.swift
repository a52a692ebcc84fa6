#if canImport(CMPV)
internal import CMPV
internal import Foundation
package import Instrument
package import InstrumentFrameCode
package import InstrumentLibMPV
package import InstrumentMPV
package import TruthStage

/// A real libmpv without a window and without a sound device, in an app that draws: an eye reads the code of each
/// picture when mpv asks the app to show it, and a tracker watches.
package final class RealLibMPV: RealPlayer {
    /// Why libmpv cannot be used.
    package struct Unusable: Error, CustomStringConvertible {
        package let description: String
    }

    /// Of the interface: 2.0 is mpv 0.35.
    package static var version: String {
        let version = mpv_client_api_version()
        return "\(version >> 16).\(version & 0xFFFF)"
    }

    private struct Handle: @unchecked Sendable { let pointer: OpaquePointer }

    private let handle: Handle
    private let screen: Screen
    private let address: String
    package let journal = SignalJournal()
    /// The tracker's player.
    package let tracked: LibMPVPlayer
    /// The diagnostics of the tracker.
    package let diagnostics = Lock<[MPVDiagnostic]>([])

    /// Prepares a player of an address; it plays after ``play()``.
    package init(_ address: String) throws {
        // libmpv reads numbers of options with the C locale alone.
        setlocale(LC_NUMERIC, "C")
        guard let pointer = mpv_create() else { throw Unusable(description: "libmpv cannot be started") }
        let options = [("vo", "libmpv"), ("ao", "null"), ("config", "no"), ("ytdl", "no"), ("hwdec", "no")]
        for (name, value) in options { mpv_set_option_string(pointer, name, value) }
        guard mpv_initialize(pointer) >= 0, let screen = Screen(pointer) else {
            mpv_terminate_destroy(pointer)
            throw Unusable(description: "libmpv draws no pictures in memory; it must be 0.33 or newer")
        }
        (handle, self.screen, self.address) = (Handle(pointer: pointer), screen, address)
        tracked = LibMPVPlayer(pointer) { [diagnostics] diagnostic in diagnostics.withLock { $0.append(diagnostic) } }
    }

    package func observe() {
        tracked.report { [journal] in journal.append($0) }
        tracked.settle()
    }

    package func play() { command("loadfile", address) }

    package func pause(_ isPaused: Bool) {
        mpv_set_property_string(handle.pointer, "pause", isPaused ? "yes" : "no")
    }

    package func seek(toMilliseconds time: Int64) { command("seek", "\(Double(time) / 1000)", "absolute+exact") }

    package func end() {
        tracked.close()
        tracked.settle()
        screen.end()
        mpv_terminate_destroy(handle.pointer)
    }

    package var eye: PlaybackEye { screen.eye }

    private func command(_ words: String...) {
        var arguments = words.map { UnsafePointer(strdup($0)) } + [nil]
        mpv_command(handle.pointer, &arguments)
        for argument in arguments { free(UnsafeMutableRawPointer(mutating: argument)) }
    }
}

/// Draws the pictures of a player into memory on a thread, each at its time.
private final class Screen: Sendable {
    static let width = 320
    static let height = 180
    static let stride = width * 4

    private struct Context: @unchecked Sendable { let pointer: OpaquePointer }

    private struct State {
        var eye = PlaybackEye()
        var isEnded = false
    }

    private let context: Context
    private let state = Lock(State())
    private let news = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    nonisolated(unsafe) private let memory = UnsafeMutableRawBufferPointer.allocate(
        byteCount: stride * height,
        alignment: 64
    )

    /// Takes the pictures of a player; nil if its libmpv cannot draw into memory.
    init?(_ player: OpaquePointer) {
        var pointer: OpaquePointer?
        let result = MPV_RENDER_API_TYPE_SW.withCString { type in
            var parameters = [
                mpv_render_param(type: MPV_RENDER_PARAM_API_TYPE, data: UnsafeMutableRawPointer(mutating: type)),
                mpv_render_param(type: MPV_RENDER_PARAM_INVALID, data: nil),
            ]
            return mpv_render_context_create(&pointer, player, &parameters)
        }
        guard result >= 0, let pointer else {
            memory.deallocate()
            return nil
        }
        context = Context(pointer: pointer)
        let here = Unmanaged.passUnretained(self).toOpaque()
        mpv_render_context_set_update_callback(
            pointer,
            { context in
                guard let context else { return }
                Unmanaged<Screen>.fromOpaque(context).takeUnretainedValue().news.signal()
            },
            here
        )
        Thread { [self] in draw() }.start()
    }

    deinit { memory.deallocate() }

    var eye: PlaybackEye { state.withLock { $0.eye } }

    /// Draws no more; before the player is destroyed.
    func end() {
        state.withLock { $0.isEnded = true }
        news.signal()
        ended.wait()
    }

    private func draw() {
        while true {
            news.wait()
            if state.withLock({ $0.isEnded }) { break }
            let flags = mpv_render_context_update(context.pointer)
            if flags & UInt64(MPV_RENDER_UPDATE_FRAME.rawValue) != 0 { drawPicture() }
        }
        mpv_render_context_set_update_callback(context.pointer, nil, nil)
        mpv_render_context_free(context.pointer)
        ended.signal()
    }

    /// Waits until the picture's time, and draws.
    private func drawPicture() {
        var size = [Int32(Self.width), Int32(Self.height)]
        var stride = Self.stride
        let result = size.withUnsafeMutableBytes { size in
            withUnsafeMutableBytes(of: &stride) { stride in
                "rgb0".withCString { format in
                    var parameters = [
                        mpv_render_param(type: MPV_RENDER_PARAM_SW_SIZE, data: size.baseAddress),
                        mpv_render_param(
                            type: MPV_RENDER_PARAM_SW_FORMAT,
                            data: UnsafeMutableRawPointer(mutating: format)
                        ),
                        mpv_render_param(type: MPV_RENDER_PARAM_SW_STRIDE, data: stride.baseAddress),
                        mpv_render_param(type: MPV_RENDER_PARAM_SW_POINTER, data: memory.baseAddress),
                        mpv_render_param(type: MPV_RENDER_PARAM_INVALID, data: nil),
                    ]
                    return mpv_render_context_render(context.pointer, &parameters)
                }
            }
        }
        guard result >= 0 else { return }
        let now = SystemClock().now
        let layout = PictureLayout.rgb(width: Self.width, height: Self.height, pixelLength: 4, stride: Self.stride)
        let number = FrameCode.number(in: UnsafeRawBufferPointer(memory), layout: layout)
        state.withLock { $0.eye.saw(number, at: now) }
    }
}
#endif
