import Foundation
import Instrument
import LoopbackServers
import Testing

@testable import InstrumentSift

@Suite("Persistent settings")
struct SiftSettingsTests {
    private func full() -> SiftSettings {
        SiftSettings(
            userID: "person \"17\"",
            installationID: "I",
            disallowsLocation: true,
            queues: ["sift-devprops": SiftQueueMemory(lastEvent: FullEvent.make(), lastUpload: Make.wallTime)]
        )
    }

    @Test("are equal after a round trip")
    func roundTrip() {
        for settings in [SiftSettings(), full(), SiftSettings(queues: ["a": SiftQueueMemory()])] {
            #expect(SiftSettings(bytes: settings.bytes) == settings)
        }
    }

    @Test("are read as far as possible; content other than settings is refused")
    func damage() {
        let bytes = full().bytes
        for end in 0..<bytes.count { #expect(SiftSettings(bytes: Array(bytes.prefix(end))) == nil) }
        let odd = #"{"disallow_collecting_location_data":false,"user_id":7,"queues":{"a":5,"b":{"last_upload":"x"}}}"#
        let read = SiftSettings(bytes: Array(odd.utf8))
        #expect(read == SiftSettings(queues: ["a": SiftQueueMemory(), "b": SiftQueueMemory()]))
        #expect(SiftSettings(bytes: Array("[]".utf8)) == nil)
    }

    @Test("A file is replaced atomically, and only the user may read it")
    func file() throws {
        let scratch = try Scratch()
        let file = SiftSettingsFile(path: scratch.file("sift.json"))
        #expect(try file.load() == nil)
        try file.save([1, 2, 3])
        try file.save([4])
        #expect(try file.load() == [4])
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["sift.json"])
        try file.save([UInt8](repeating: 7, count: 2 << 20))
        #expect(throws: SiftSettingsError.self) { try file.load() }
    }

    @Test("Settings are not written through a link, and a pipe in their place is an error, not a wait")
    func foreign() throws {
        let scratch = try Scratch()
        let (precious, file) = (scratch.file("precious"), SiftSettingsFile(path: scratch.file("sift.json")))
        try Data("precious".utf8).write(to: URL(fileURLWithPath: precious))
        #expect(symlink(precious, file.path + ".new") == 0)
        try file.save([1])
        #expect(try file.load() == [1])
        #expect(FileManager.default.contents(atPath: precious) == Data("precious".utf8))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted() == ["precious", "sift.json"]
        )
        // A copy that a crash left is deleted with the next start.
        try Data("copy".utf8).write(to: URL(fileURLWithPath: file.path + ".0123456789abcdef.new"))
        #expect(try file.load() == [1])
        #expect(scratch.names == ["precious", "sift.json"])
        try FileManager.default.removeItem(atPath: file.path)
        #expect(mkfifo(file.path, 0o600) == 0)
        #expect(throws: SiftSettingsError.self) { try file.load() }
    }

    @Test("A path that cannot be written or read is an error that names it")
    func unusable() throws {
        let scratch = try Scratch()
        let missing = SiftSettingsFile(path: scratch.file("no/such/sift.json"))
        #expect(try missing.load() == nil)
        let error = #expect(throws: SiftSettingsError.self) { try missing.save([1]) }
        #expect(error?.description.contains("no/such/sift.json") == true)
        #expect(throws: SiftSettingsError.self) { try SiftSettingsFile(path: scratch.path).load() }
    }

    private func uplink(_ store: any SiftSettingsStore, _ report: @escaping @Sendable (Diagnostic) -> Void = { _ in })
        throws -> SiftUplink
    {
        SiftUplink(
            SiftConfiguration(),
            try Make.credentials(),
            store: store,
            clock: VirtualClock(),
            randomness: RandomSource(),
            report: report
        )
    }

    @Test("Installation, user, choice and the queues' state are stored, and keys are not")
    func kept() throws {
        let scratch = try Scratch()
        let store = SiftSettingsFile(path: scratch.file("sift.json"))
        let first = try uplink(store)
        first.change { $0.userID = "person-17" }
        first.change { $0.disallowsLocation = true }
        first.keep(try #require(first.admit(FullEvent.make(), to: .deviceProperties, now: Make.wallTime)))
        let second = try uplink(store)
        #expect(second.installationID == first.installationID)
        #expect(second.settings == first.settings)
        #expect(second.admit(FullEvent.make(), to: .deviceProperties, now: Make.wallTime)?.event == nil)
        let text = String(decoding: scratch.bytes("sift.json"), as: UTF8.self)
        for secret in ["acc/1", "acc%2F1", "beacon-key", "YmVhY29uLWtleQ=="] { #expect(!text.contains(secret)) }
    }

    @Test("Damaged settings are reset and reported, and locations are not collected until the app allows them again")
    func damagedStore() throws {
        let diagnostics = Lock([Diagnostic]())
        let store = SiftSettingsMemory([0x7B])
        let uplink = try uplink(store) { diagnostic in diagnostics.withLock { $0.append(diagnostic) } }
        #expect(uplink.settings.disallowsLocation)
        #expect(diagnostics.withLock { $0.count } == 1)
        #expect(SiftSettings(bytes: store.load() ?? [])?.installationID == uplink.installationID)
    }

    @Test("Settings that cannot be saved apply until the process ends, and are reported")
    func unsavable() throws {
        let scratch = try Scratch()
        let diagnostics = Lock([Diagnostic]())
        let store = SiftSettingsFile(path: scratch.file("no/such/sift.json"))
        let uplink = try uplink(store) { diagnostic in diagnostics.withLock { $0.append(diagnostic) } }
        uplink.change { $0.userID = "person-17" }
        #expect(uplink.settings.userID == "person-17")
        #expect(diagnostics.withLock { $0.count } == 2)
    }
}
