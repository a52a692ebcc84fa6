import AVFoundation
import Foundation
import Instrument
import InstrumentAVPlayer
import InstrumentTrackers

/// A player and the instrument that watches it.
@MainActor
final class Session {
    let player: AVPlayer
    let instrument: Instrument
    private let monitor: AVPlayerMonitor
    private let content: TrackerID
    private let address: String

    init(film address: String, backend: any Backend = PrintingBackend()) {
        self.address = address
        player = AVPlayer()
        instrument = Instrument(hub: AdsHub(), metricalc: CoreMetricalc(), backends: [backend])
        monitor = AVPlayerMonitor(player)
        content = instrument.add(PlayerTracker(monitor))
        instrument.add(AdTracker(InterstitialMonitor(player)), adsOf: content)
        // Samples leave before the system stops the app.
        #if canImport(UIKit)
        instrument.add(LifecycleTracker(ApplicationLifecycle(), flushing: instrument.queue))
        #else
        instrument.add(LifecycleTracker(DesktopLifecycle(), flushing: instrument.queue))
        #endif
        instrument.ready()
    }

    /// The person asks for the film.
    func play() {
        guard let url = URL(string: address) else { return }
        instrument.emit(.mediaRequest, from: content)
        player.replaceCurrentItem(with: AVPlayerItem(url: url))
        player.play()
    }

    /// The person has seen enough.
    func stop() {
        monitor.stop()
        player.pause()
    }
}

/// Prints each sample. An app has a backend of the library here: InstrumentBackends, InstrumentXAPI …
struct PrintingBackend: Backend {
    let name: BackendName = "print"

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        for record in batch.records { print(record.sample) }
        return .acknowledged
    }
}
