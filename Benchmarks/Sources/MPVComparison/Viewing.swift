import Foundation
import Instrument
import InstrumentMPV
import InstrumentProbe
import InstrumentTestKit

/// The viewing experience, in seconds since playback was requested.
struct Viewing {
    struct Stall {
        var begin: Double
        var length: Double
    }

    var start: Double?
    var stalls: [Stall] = []
    var outcome: String
}

extension Viewing {
    /// Plays with the probe, under the same settings as mpv.
    static func byProbe(_ address: String, threshold: Duration) async -> Viewing {
        var profile = PlayerProfile.mpv
        profile.buffer = BufferPolicy(startThreshold: threshold, resumeThreshold: threshold, maximum: .seconds(200))
        let probe = Probe(MediaSource(address), configuration: ProbeConfiguration(profile: profile))
        let (instrument, backend) = watch(probe)
        probe.play()
        _ = await probe.waitUntilFinished()
        await instrument.shutdown(timeout: .seconds(10))
        return Viewing(backend.events, from: .mediaRequest)
    }

    /// Plays by a real mpv with null outputs.
    static func byMPV(_ address: String, threshold: Double) async throws -> Viewing {
        let launch = MPVLaunch(arguments: [
            "--no-config", "--no-terminal", "--idle", "--vo=null", "--ao=null", "--cache=yes", "--cache-secs=200",
            "--demuxer-readahead-secs=200", "--cache-pause=yes", "--cache-pause-wait=\(threshold)",
            "--cache-pause-initial=yes", "--demuxer-lavf-o=http_multiple=0,http_persistent=0",
        ])
        let (connections, connected) = AsyncStream.makeStream(of: Void.self)
        let player = try MPVPlayer(starting: launch) { if $0.kind == .connected { connected.yield() } }
        let (instrument, backend) = watch(player)
        player.connect()
        for await _ in connections { break }
        player.load(address)
        await backend.ended()
        player.close()
        _ = await player.waitUntilGone()
        await instrument.shutdown(timeout: .seconds(10))
        return Viewing(backend.events, from: .streamLoad)
    }

    private static func watch(_ player: some Player) -> (Instrument, EndingBackend) {
        let backend = EndingBackend()
        let instrument = Instrument(hub: CoreHub(), metricalc: CoreMetricalc(), backends: [backend])
        instrument.add(PlayerTracker(player))
        instrument.ready()
        return (instrument, backend)
    }

    private init(_ events: [Event], from first: Action) {
        let zero = events.first { $0.action == first }?.time.instant
        let seconds = { (event: Event) in (zero?.duration(to: event.time.instant) ?? .zero) / .seconds(1) }
        start = events.first { $0.action == .start }.map(seconds)
        outcome = events.last { [.end, .error, .stop].contains($0.action) }.map { "\($0.action)" } ?? "-"
        var begun: Double?
        for event in events.drop(while: { $0.action != .start }) {
            if event.action == .bufferBegin { begun = seconds(event) }
            guard event.action == .bufferFinish, let begin = begun else { continue }
            stalls.append(Stall(begin: begin, length: seconds(event) - begin))
            begun = nil
        }
    }
}

/// Keeps the events, and says when playback is over.
private final class EndingBackend: Backend {
    let name: BackendName = "ending"
    let policy = DeliveryPolicy(maxCount: 1, maxAge: .milliseconds(50))
    private let collected = CollectingBackend()
    private let (endings, ending) = AsyncStream.makeStream(of: Void.self)

    var events: [Event] { collected.events }

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        let outcome = await collected.deliver(batch)
        for case .event(let event) in batch.records.map(\.sample)
        where [.end, .error, .stop].contains(event.action) {
            ending.yield()
        }
        return outcome
    }

    func ended() async { for await _ in endings { break } }
}
