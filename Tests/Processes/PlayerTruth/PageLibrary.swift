import Foundation
import InstrumentProbe
import TruthStage

/// A library that plays in a page, and how.
struct PageLibrary: Sendable {
    var source: String?
    /// They make `video` play `address`, and set `version`.
    var statements: String

    /// The statements of each library.
    private static let statements = [
        // A bundle's module may export functions alone, whose player tells its class.
        "hls.js": """
        const Hls = window.Hls ?? module.t(document.createElement("video"), "data:,", () => {}).constructor
        version = Hls.version
        video.play().catch(() => {}); const hls = new Hls(); hls.loadSource(address); hls.attachMedia(video)
        """,
        "dash.js": """
        const player = dashjs.MediaPlayer().create()
        version = player.getVersion()
        video.play().catch(() => {}); player.initialize(video, address, true)
        """,
        "shaka": """
        version = shaka.Player.version
        video.play().catch(() => {}); shaka.polyfill.installAll(); const player = new shaka.Player()
        await player.attach(video); player.load(address)
        """,
        "video.js": """
        const streaming = { overrideNative: true }
        const html5 = { hls: streaming, vhs: streaming, nativeAudioTracks: false, nativeVideoTracks: false }
        const type = address.includes(".mpd") ? "application/dash+xml" : "application/x-mpegURL"
        const player = videojs(video, { html5 })
        version = videojs.VERSION
        player.src({ src: address, type })
        player.play()?.catch(() => {})
        """,
    ]

    /// The browser's own player.
    static let native = PageLibrary(statements: "video.src = address; video.play().catch(() => {})")

    /// Reads a library; nil if there is no such file, or no such library.
    init?(_ name: String, at path: String) {
        guard let data = FileManager.default.contents(atPath: path), let statements = Self.statements[name] else {
            return nil
        }
        self.init(source: String(decoding: data, as: UTF8.self), statements: statements)
    }

    private init(source: String? = nil, statements: String) {
        (self.source, self.statements) = (source, statements)
    }

    /// Whether it is an hls.js that can start its web worker.
    var hasWorker: Bool { source?.contains("__HLS_WORKER_BUNDLE__") ?? false }
}
