internal import Instrument
internal import InstrumentJSON

/// A page that plays one address with a player library, or with the browser's own player.
package enum StreamPage {
    /// The page's path on the server of the media: a page of the same origin needs no permission to read the media.
    package static let path = "/instrument-player.html"

    /// The address of the page that plays an address; nil for a text that is no address.
    package static func address(playing address: String) -> String? {
        guard let (scheme, rest) = SourceText.split(address) else { return nil }
        return "\(scheme)://\(rest.prefix { !["/", "?", "#"].contains($0) })\(path)"
    }

    /// Returns the page's HTML.
    ///
    /// - Parameters:
    ///   - address: the address of a playlist, an MPD or a film.
    ///   - libraries: the texts of player libraries: hls.js, dash.js, Shaka Player or Video.js. The first of them
    ///     that plays the address is used, else the browser's own player.
    package static func html(playing address: String, with libraries: [[UInt8]] = []) -> [UInt8] {
        let texts = JSONValue.array(libraries.map { .string(String(decoding: $0, as: UTF8.self)) })
        let (sources, quoted) = (embeddable(texts.description), embeddable(JSONValue.string(address).description))
        return Array(
            """
            <!doctype html><meta charset="utf-8"><style>html,body{margin:0;background:#000}video{width:100%}</style>
            <video id="video" autoplay playsinline></video><script>
            \(loader)
            (async () => {
              const video = document.getElementById("video")
              const address = \(quoted)
              for (const source of \(sources)) await load(source).catch((error) => console.error(error))
              const path = new URL(address).pathname.toLowerCase()
              video.play().catch(() => {})
              if (path.endsWith(".m3u8") && window.Hls?.isSupported()) {
                window.player = new Hls()
                window.player.loadSource(address)
                window.player.attachMedia(video)
              } else if (path.endsWith(".mpd") && window.dashjs) {
                window.player = dashjs.MediaPlayer().create()
                window.player.initialize(video, address, true)
              } else if (/\\.(m3u8|mpd)$/.test(path) && window.shaka) {
                shaka.polyfill.installAll()
                window.player = new shaka.Player()
                window.player.attach(video).then(() => window.player.load(address)).then(() => video.play())
              } else if (/\\.(m3u8|mpd)$/.test(path) && window.videojs) {
                const type = path.endsWith(".mpd") ? "application/dash+xml" : "application/x-mpegURL"
                // Not the browser's own player, which newer versions of Chromium have for HLS.
                const streaming = { overrideNative: true }
                const html5 = { hls: streaming, vhs: streaming, nativeAudioTracks: false, nativeVideoTracks: false }
                window.player = videojs(video, { html5 })
                window.player.src({ src: address, type })
                window.player.play()
              } else {
                video.src = address
              }
            })()
            </script>
            """.utf8
        )
    }

    /// A function that runs a library, a script or a module, and gives what it exports the names that scripts use.
    package static let loader = """
        async function load(source) {
          if (!/(^|[;}\\s])export\\s*(\\{|default\\b)/.test(source.slice(-20000))) {
            const script = document.createElement("script")
            script.textContent = source
            document.head.append(script)
            return {}
          }
          const module = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })))
          for (const value of Object.values(module)) {
            if (typeof value === "function" && typeof value.isSupported === "function") window.Hls ??= value
            if (value?.MediaPlayer) window.dashjs ??= value
            if (value?.Player && value?.polyfill) window.shaka ??= value
          }
          return module
        }
        """

    /// A text that does not end the script in which it stands.
    package static func embeddable(_ text: String) -> String {
        text.replacing("</", with: "<\\/").replacing("<!--", with: "<\\!--")
    }
}
