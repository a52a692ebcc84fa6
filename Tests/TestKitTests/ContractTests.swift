import Instrument
import InstrumentHubs
import InstrumentTestKit
import InstrumentTrackers
import Testing

@Suite("Contracts")
struct ContractTests {
    @Test("Our hubs keep the hubs' contract", arguments: [1, 2, 3] as [UInt64])
    func hubs(seed: UInt64) throws {
        try HubContract.check(seed: seed) { CoreHub() }
        try HubContract.check(seed: seed) { AdsHub() }
    }

    @Test("A hub that changes on a rejected event, or tosses a coin, breaks the contract")
    func brokenHubs() {
        struct Changing: Hub, Equatable {
            var count = 0
            mutating func process(_ event: inout Event, in context: inout HubContext) -> Verdict {
                count += 1
                return count.isMultiple(of: 2) ? .accepted : .rejected(.alreadyDone)
            }
        }
        struct Tossing: Hub, Equatable {
            mutating func process(_ event: inout Event, in context: inout HubContext) -> Verdict {
                event.attributes["coin"] = .int(.random(in: .min ... .max))
                return .accepted
            }
        }
        #expect(throws: ContractViolation.self) { try HubContract.check { Changing() } }
        #expect(throws: ContractViolation.self) { try HubContract.check { Tossing() } }
    }

    @Test("The store in memory keeps the stores' contract")
    func stores() throws { try StoreContract.check { InMemoryStore() } }

    @Test("A store that forgets samples breaks the contract")
    func brokenStore() {
        #expect(throws: ContractViolation.self) {
            try StoreContract.check { InMemoryStore(limits: QueueLimits(maxCount: 500)) }
        }
    }
}

@Suite("Player tracker")
struct PlayerTrackerTests {
    @Test("Any player's signals become events with its status, at the instants that it gives")
    func signals() async {
        let (backend, clock, player) = (CollectingBackend(), VirtualClock(), ScriptedPlayer(name: "mine"))
        let instrument = Instrument(hub: CoreHub(), backends: [backend], clock: clock)
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
        await instrument.queue.flush(timeout: .seconds(1800))
        #expect(backend.events.map(\.action) == [.trackerInit, .playerSet, .playerReady, .start, .error])
        #expect(backend.events.allSatisfy { $0[.title] == "film" && $0[.trackerTarget] == "mine" })
        #expect(backend.events.map { $0[milliseconds: .position] } == [1000, 1000, 1000, 1000, 3000])
        #expect(backend.events[3].time.instant.milliseconds == 8000)
        #expect(backend.events[4][.errorDescription] == "broken")
        #expect(backend.events[4][.deltaPlayTime] == .seconds(2))
    }
}
