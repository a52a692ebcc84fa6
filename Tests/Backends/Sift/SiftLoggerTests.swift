import Instrument
import InstrumentJSON
import InstrumentSensors
import InstrumentTestKit
import InstrumentTransport
import TestTraits
import Testing

@testable import InstrumentSift

@Suite("The logger for Sift", .ownThread, .timeLimit(.minutes(30)))
struct SiftLoggerTests {
    private let clock = VirtualClock()
    private let arrivals = AsyncStream.makeStream(of: SiftService.Request.self)

    private func service(_ moods: [SiftService.Mood] = []) throws -> SiftService {
        try SiftService(moods) { [arrivals] request in arrivals.continuation.yield(request) }
    }

    /// The next request that comes by itself, and not because it was asked for.
    private func arrival() async -> SiftService.Request? {
        var iterator = arrivals.stream.makeAsyncIterator()
        return await iterator.next()
    }

    @Test(
        "The logger sends the first event immediately, then 33 together, then the rest a minute after the last upload"
    )
    func rules() async throws {
        let service = try service()
        let chain = try SiftChain(service, clock: clock)
        chain.sift.append(Make.event(0))
        #expect(await arrival()?.events.count == 1)
        #expect(await chain.flush())
        for number in 1...33 { chain.sift.append(Make.event(number)) }
        #expect(await arrival()?.events.count == 33)
        #expect(await chain.flush())
        clock.advance(by: .seconds(61))
        chain.sift.append(Make.event(34))
        #expect(await arrival()?.events.count == 1)
        #expect(await chain.flush())
        chain.sift.append(Make.event(35))
        #expect(!chain.sift.upload())
        // The lane has set its alarm.
        await chain.instrument.queue.waitUntilIdle()
        clock.advance(by: .seconds(61))
        #expect(await arrival()?.events.count == 1)
        #expect(service.numbers == (0...35).map(String.init))
        #expect(service.complaints.isEmpty)
    }

    @Test("An event that the shared queue does not keep is no event before the next one, and is not saved as one")
    func refused() async throws {
        let (store, settings) = (ClosedStore(), SiftSettingsMemory())
        let chain = try SiftChain(try service(), store: store, settings: settings, clock: clock)
        var event = SiftEvent(time: clock.wallTime, type: "DeviceProperties")
        event.deviceProperties = DeviceProperties()
        event.deviceProperties?.systemName = "Linux"
        store.isClosed.withLock { $0 = true }
        #expect(!chain.sift.append(event, to: .deviceProperties))
        let saved = try #require(settings.load().flatMap { SiftSettings(bytes: $0) })
        #expect(saved.queues[SiftQueue.deviceProperties.name]?.lastEvent == nil)
        store.isClosed.withLock { $0 = false }
        #expect(chain.sift.append(event, to: .deviceProperties))
        #expect(!chain.sift.append(event, to: .deviceProperties))
        #expect(settings.load().flatMap { SiftSettings(bytes: $0) }?.queues.isEmpty == false)
    }

    @Test("Settings that cannot be read are not replaced; the next start reads them")
    func unreadable() async throws {
        let settings = BrokenSettings(SiftSettings(userID: "person", installationID: "one", queues: [:]).bytes)
        settings.isBroken.withLock { $0 = true }
        let chain = try SiftChain(try service(), settings: settings, clock: clock)
        chain.sift.userID = "other"
        #expect(chain.sift.userID == "other" && chain.sift.disallowsCollectingLocationData)
        settings.isBroken.withLock { $0 = false }
        let next = try SiftChain(try service(), settings: settings, clock: clock)
        #expect(next.sift.userID == "person" && next.sift.installationID == "one")
    }

    @Test("The logger sends device properties one by one, and equal properties only once an hour")
    func deviceProperties() async throws {
        let service = try service()
        let chain = try SiftChain(service, clock: clock)
        var event = SiftEvent(time: clock.wallTime, type: "DeviceProperties")
        event.deviceProperties = DeviceProperties()
        event.deviceProperties?.systemName = "Linux"
        #expect(chain.sift.append(event, to: .deviceProperties))
        #expect(await arrival()?.events.first?["ios_device_properties"] == ["device_system_name": "Linux"])
        event.time = WallTime(milliseconds: clock.wallTime.milliseconds + 5000)
        #expect(!chain.sift.append(event, to: .deviceProperties))
        event.deviceProperties?.systemName = "Darwin"
        #expect(chain.sift.append(event, to: .deviceProperties))
        #expect(await arrival()?.events.first?["ios_device_properties"] == ["device_system_name": "Darwin"])
        clock.advance(by: .seconds(3605))
        #expect(chain.sift.append(event, to: .deviceProperties))
        #expect(await chain.flush())
        #expect(service.taken.count == 3)
    }

    @Test("A forced upload sends all queues, and does nothing without waiting events")
    func force() async throws {
        let service = try service()
        let quiet = SiftQueue(
            "sift-devprops",
            acceptSameEventAfter: .zero,
            uploadWhenMoreThan: 50,
            uploadWhenOlderThan: .zero
        )
        let chain = try SiftChain(service, { $0.queues = [.standard, quiet] }, clock: clock)
        #expect(!chain.sift.upload(force: true))
        chain.sift.append(Make.event(0))
        #expect(await chain.flush())
        chain.sift.append(Make.event(1))
        chain.sift.append(Make.event(2), to: .deviceProperties)
        #expect(!chain.sift.upload())
        #expect(chain.sift.upload(force: true))
        #expect(await chain.flush())
        #expect(Set(service.numbers) == ["0", "1", "2"])
        #expect(!chain.sift.upload(force: true))
    }

    @Test("A paused logger takes events and sends none; a second pause has no effect")
    func pause() async throws {
        let service = try service()
        let chain = try SiftChain(service, clock: clock)
        chain.sift.pause()
        chain.sift.pause()
        #expect(chain.sift.isPaused)
        for number in 0..<50 { chain.sift.append(Make.event(number)) }
        #expect(!chain.sift.upload(force: true))
        #expect(service.requests.isEmpty)
        chain.sift.resume()
        chain.sift.resume()
        #expect(!chain.sift.isPaused)
        #expect(await chain.flush())
        #expect(service.numbers == (0..<50).map(String.init))
        #expect(service.taken.count == 50)
    }

    @Test("Overdue events are sent as soon as a pause ends or credentials exist")
    func overdue() async throws {
        let service = try service()
        let chain = try SiftChain(service, credentials: nil, clock: clock)
        chain.sift.append(Make.event(0))
        chain.sift.setCredentials(try Make.credentials())
        #expect(await arrival()?.events.count == 1)
        #expect(await chain.flush())
        clock.advance(by: .seconds(61))
        chain.sift.pause()
        chain.sift.append(Make.event(1))
        chain.sift.resume()
        #expect(await arrival()?.events.count == 1)
    }

    @Test("Events wait for credentials, and are sent with the latest ones")
    func credentials() async throws {
        let service = try service()
        let chain = try SiftChain(service, credentials: nil, clock: clock)
        for number in 0..<40 { chain.sift.append(Make.event(number)) }
        #expect(!chain.sift.upload(force: true))
        #expect(service.requests.isEmpty)
        chain.sift.setCredentials(try Make.credentials())
        #expect(await chain.flush())
        #expect(service.numbers == (0..<40).map(String.init))
        #expect(service.complaints.isEmpty)
        chain.sift.setCredentials(nil)
        #expect(!chain.sift.upload(force: true))
    }

    @Test("An event has the user at the time of appending, unless it names a user")
    func user() async throws {
        let service = try service()
        let chain = try SiftChain(service, clock: clock)
        chain.sift.pause()
        chain.sift.append(Make.event(0))
        chain.sift.userID = "first"
        chain.sift.append(Make.event(1))
        var own = Make.event(2)
        own.userID = "own"
        chain.sift.append(own)
        chain.sift.userID = "second"
        chain.sift.append(Make.event(3))
        chain.sift.userID = nil
        chain.sift.append(Make.event(4))
        chain.sift.resume()
        #expect(await chain.flush())
        #expect(service.taken.map { $0["user_id"]?.string } == [nil, "first", "own", "second", nil])
        #expect(service.taken.allSatisfy { $0["installation_id"]?.string == chain.sift.installationID })
    }

    @Test("After the opt-out no event has a location, not even a waiting one")
    func location() async throws {
        let service = try service()
        let chain = try SiftChain(service, clock: clock)
        #expect(!chain.sift.disallowsCollectingLocationData)
        chain.sift.pause()
        chain.sift.append(FullEvent.make())
        chain.sift.disallowsCollectingLocationData = true
        chain.sift.append(FullEvent.make())
        chain.sift.resume()
        #expect(await chain.flush())
        #expect(service.taken.map { $0["ios_app_state"]?["location"] != nil } == [false, false])
        #expect(service.taken.last?["ios_app_state"]?["battery_level"] == 0.5)
    }

    @Test("Concurrent threads lose no event, and an equal event is taken from one of them")
    func threads() async throws {
        let service = try service()
        let chain = try SiftChain(service, clock: clock)
        let sift = chain.sift
        let taken = await withTaskGroup(of: Int.self) { group in
            for part in 0..<8 {
                group.addTask {
                    for number in 0..<25 { sift.append(Make.event(part * 25 + number)) }
                    return sift.append(Make.event(0), to: .deviceProperties) ? 1 : 0
                }
            }
            return await group.reduce(0, +)
        }
        #expect(taken == 1)
        #expect(await chain.flush())
        #expect(Set(service.numbers).count == 200)
        #expect(service.taken.count == 201)
    }

    @Test("A backlog is sent in bodies of limited size")
    func backlog() async throws {
        let service = try service()
        let chain = try SiftChain(service, clock: clock)
        chain.sift.pause()
        for number in 0..<2000 { chain.sift.append(Make.event(number)) }
        chain.sift.resume()
        #expect(await chain.flush())
        #expect(service.numbers == (0..<2000).map(String.init))
        #expect(service.requests.allSatisfy { $0.events.count <= 33 })
    }

    @Test("A shutdown while paused keeps its deadline and loses nothing")
    func shutdownWhilePaused() async throws {
        let service = try service()
        let chain = try SiftChain(service)
        chain.sift.pause()
        for number in 0..<40 { chain.sift.append(Make.event(number)) }
        #expect(!(await chain.instrument.shutdown(timeout: .milliseconds(50))))
        #expect(chain.ledger?.queued == 40)
        #expect(service.requests.isEmpty)
    }
}

/// A store on a disk that is full for a while.
private final class ClosedStore: ForwardingStore {
    let store = InMemoryStore()
    let isClosed = Lock(false)

    func append(_ samples: [Sample]) throws(QueueError) -> Int {
        if isClosed.withLock({ $0 }) { throw QueueError(.diskFull, "the disk is full") }
        return try store.append(samples)
    }
}

/// Settings on a disk that cannot be read for a while.
private final class BrokenSettings: SiftSettingsStore {
    let isBroken = Lock(false)
    private let memory: SiftSettingsMemory

    init(_ bytes: [UInt8]) { memory = SiftSettingsMemory(bytes) }

    func load() throws(SiftSettingsError) -> [UInt8]? {
        if isBroken.withLock({ $0 }) { throw SiftSettingsError("input/output error") }
        return memory.load()
    }
    func save(_ bytes: [UInt8]) { memory.save(bytes) }
}
