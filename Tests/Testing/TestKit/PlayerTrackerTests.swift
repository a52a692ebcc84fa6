import Instrument
import InstrumentTestKit
import Testing

@Suite("Player tracker")
struct PlayerTrackerTests {
    @Test("A player's signals become events with its status, at the given instants")
    func signals() async {
        let (backend, clock, player) = (CollectingBackend(), VirtualClock(), ScriptedPlayer(name: "mine"))
        let instrument = Instrument(hub: CoreHub(), metricalc: nil, backends: [backend], clock: clock)
        player.set(\.title, to: "film")
        player.set(\.position, to: .seconds(1))
        let id = instrument.add(PlayerTracker(player))
        instrument.ready()
        clock.advance(by: .seconds(10))
        player.signal(.start, at: clock.now.advanced(by: .seconds(-2)))
        player.set(\.position, to: .seconds(3))
        player.signal(.error, attributes: ["errorDescription": "broken"])
        instrument.remove(id)
        player.signal(.end)
        await instrument.queue.flush(timeout: .seconds(1))
        #expect(backend.events.map(\.action) == [.trackerInit, .playerSet, .playerReady, .start, .error])
        #expect(backend.events.allSatisfy { $0[.title] == "film" && $0[.trackerTarget] == "mine" })
        #expect(backend.events.map { $0[milliseconds: .position] } == [1000, 1000, 1000, 1000, 3000])
        #expect(backend.events[3].time.instant.milliseconds == 8000)
        #expect(backend.events[4][.errorDescription] == "broken")
        #expect(backend.events[4][.deltaPlayTime] == .seconds(2))
    }
}
