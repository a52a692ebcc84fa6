// A small video player with an embedded instrument.
//
//   EmbeddedPlayer [--terminal] [ADDRESS|FILE [FOLDER]]
//
// With a display it opens a window, and asks whether it may measure. Without one, or with --terminal, it plays without
// a picture and prints the figures; without an address, three seconds of a test picture. FOLDER/samples.ndjson has the
// samples.

import CGTK
import Foundation
import Instrument
import InstrumentBackends
import InstrumentDurableQueue

let arguments = CommandLine.arguments.dropFirst().filter { $0 != "--terminal" }
let source = arguments.first
let directory = arguments.dropFirst().first ?? NSTemporaryDirectory() + "embedded-player-\(getuid())"
try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
let figures = Figures()
// Samples survive in a durable queue and go to a file, once the person has agreed.
let instrument = Instrument(
    metricalc: ShowingMetricalc(figures: figures),
    backends: [try .file(directory + "/samples.ndjson")],
    store: try DurableStore(directory: directory + "/queue"),
    consent: .pending
)
guard let player = MediaPlayer(isSilent: !FileManager.default.fileExists(atPath: "/dev/snd")) else {
    print("EmbeddedPlayer: GStreamer must have playbin3 and videoconvert (install gstreamer1.0-plugins-base)")
    exit(1)
}
// One instrument per app, one tracker per player. App events use the instrument that is registered.
instrument.add(PlayerTracker(player.measured))
instrument.ready()
Analytics.register(instrument)
Analytics()(AppEvent.opened)

let loop = g_main_loop_new(nil, 0)
for number in [SIGINT, SIGTERM] { onSignal(number) { g_main_loop_quit(loop) } }
let hasDisplay = !CommandLine.arguments.contains("--terminal") && gtk_init_check() != 0
if hasDisplay, let window = Window(player, showing: figures) {
    // Samples wait in the queue until the person answers; a refusal erases them.
    window.askForConsent { consent in
        try? instrument.set(consent: consent)
        window.open(source ?? "")
    }
    window.onClose { g_main_loop_quit(loop) }
} else {
    try instrument.set(consent: .granted)
    player.onEnd = { error in
        print(error.map { "error: \($0)" } ?? "end")
        g_main_loop_quit(loop)
    }
    every(500) { print(figures.text(of: player.measured.status)) }
    if source == nil { every(3_000) { g_main_loop_quit(loop) } }
    player.open(source ?? "testbin://video+audio")
}
g_main_loop_run(loop)
player.stop()
let isDelivered = await instrument.shutdown(timeout: .seconds(5))
print("samples: \(directory)/samples.ndjson")
exit(isDelivered || instrument.consent != .granted ? 0 : 1)
