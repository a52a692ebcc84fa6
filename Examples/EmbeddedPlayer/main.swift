// A small player app with an embedded instrument.
//
//   EmbeddedPlayer [FILE.wav]     plays a WAV file, or two seconds of a tone
//
// It pauses once and seeks once, as a person would, and prints the samples of the instrument.

import Foundation
import Instrument
import InstrumentBackends

// The app's own vocabulary: one line per action, attribute and event.
extension AttributeKey where Value == String {
    static var screen: Self { "screen" }
}

struct AppEvent: AnalyticsEvent {
    let name: String
}

extension AnalyticsEvent where Self == AppEvent {
    static var opened: AppEvent { AppEvent(name: "AppOpened") }
    static var closed: AppEvent { AppEvent(name: "AppClosed") }
}

enum UserTypeKey: AnalyticsKey { static let key = "userType" }

extension AnalyticsValues {
    var userType: String? {
        get { self[UserTypeKey.self] }
        set { self[UserTypeKey.self] = newValue }
    }
}

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("EmbeddedPlayer: \(message)\n".utf8))
    exit(1)
}

let tone = NSTemporaryDirectory() + "embedded-player-tone.wav"
let path = CommandLine.arguments.dropFirst().first ?? tone
let player: WavePlayer
do {
    if path == tone { try WaveFile.writeTone(to: tone) }
    player = WavePlayer(try WaveFile(path: path))
} catch {
    fail("\(error)")
}

// One instrument per app, one tracker per player.
let instrument = Instrument(backends: [.console])
// The app's own fields are declared in the privacy catalogue, and therefore in Apple's manifest.
instrument.declare([
    FieldDeclaration(.screen, "The screen that is shown"),
    FieldDeclaration(AttributeName(UserTypeKey.key), .text, "Guest or member"),
])
instrument.set(.screen, to: "main")
instrument.add(PlayerTracker(player))
instrument.ready()

// App events use the current instrument automatically, with the scoped values at the call.
Analytics.register(instrument)
let log = Analytics()

await AnalyticsValues.with(\.userType, "guest") {
    log(.opened)
    async let playback: Void = player.play()
    try? await Task.sleep(for: .milliseconds(500))
    player.togglePause()
    try? await Task.sleep(for: .milliseconds(300))
    player.togglePause()
    player.seek(to: .seconds(1))
    await playback
    log(.closed)
}

let isDelivered = await instrument.shutdown(timeout: .seconds(5))
exit(isDelivered ? 0 : 1)
