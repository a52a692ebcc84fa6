import Instrument
import InstrumentJSON
import InstrumentSensors
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

    @Test("The first event goes out at once, then 33 together, then whatever is there a minute after the last upload")
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

    @Test("Device properties go out one by one, and the same ones only once an hour")
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

    @Test("A forced upload takes all queues; with nothing waiting it does nothing")
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

    @Test("While paused events are taken and none is sent; pausing twice is pausing once")
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

    @Test("What is overdue goes out as soon as it may: after a pause, and once there are credentials")
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

    @Test("Without credentials events wait; with them they are sent, and the latest ones count")
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

    @Test("An event has the user of the moment when it was appended, unless it names one")
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

    @Test("With the opt-out set no event has a location, also one that waited")
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

    @Test("Threads that log at once lose nothing, and the same event is taken from one of them")
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

    @Test("A backlog goes out in bounded bodies")
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

    @Test("A shutdown while paused keeps to its deadline, and loses nothing")
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
