import AVFoundation
import Instrument
import InstrumentSwiftUI
import SwiftUI

/// A film, its stalls, its quality, and what the person does around it, in one event log.
@main
struct PlayerApp: App {
    private let session = Session(
        film: "https://devstreaming-cdn.apple.com/videos/streaming/examples/bipbop_16x9/bipbop_16x9_variant.m3u8"
    )

    init() { Analytics.register(session.instrument) }

    var body: some Scene {
        WindowGroup {
            FilmView(session: session).analytics(\.screen, "film")
        }
    }
}
