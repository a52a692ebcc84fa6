import AVKit
import Instrument
import InstrumentSwiftUI
import SwiftUI

/// The player, and what the person can do with it.
struct FilmView: View {
    let session: Session
    @Environment(\.analytics) private var log

    var body: some View {
        VStack {
            VideoPlayer(player: session.player)
            Button("Play") {
                log(.playTapped)
                session.play()
            }
            Button("Stop") {
                log(.stopTapped)
                session.stop()
            }
        }
        .onAppear { log(.view) }
    }
}
