#if os(Linux)
import Foundation
import Instrument
import InstrumentOrigin
import InstrumentVLCRemote
import LoopbackServers
import TestTraits
import Testing

/// A real VLC in another process, over the test origin.
@Suite(
    "A real VLC in another process",
    .serialized,
    .earlyOnOwnThread,
    .timeLimit(.minutes(30)),
    .enabled("needs the program vlc (vlc-bin)") { FileManager.default.isExecutableFile(atPath: "/usr/bin/vlc") }
)
struct RealVLCRemoteAloneTests {
    /// VLC refuses the superuser.
    private func start(_ source: String, port: UInt16, home: String) throws -> Process {
        let vlc = Process()
        vlc.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let user = geteuid() == 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []
        vlc.arguments =
            user + ["env", "HOME=\(home)", "vlc", "-I", "http", "--http-host", "127.0.0.1", "--http-port", "\(port)"]
            + ["--http-password", "secret", "--no-video-title-show", "--vout=dummy", "--aout=dummy", source]
        for pipe in [\Process.standardInput, \.standardOutput, \.standardError] {
            vlc[keyPath: pipe] = FileHandle.nullDevice
        }
        try vlc.start()
        return vlc
    }

    @Test("A stream with an outage, and a VLC that is killed in the middle")
    func outageAndKill() async throws {
        let origin = try await Origin.start(
            media: [.fixtures(try await Fixtures.make(in: MediaCache.origin))],
            schedule: try DeliverySchedule("4000k for 3s, 0 for 8s, 4000k")
        )
        let (scratch, port) = (try Scratch(), try TestServer.closedPort())
        let address = origin.url("vod/ts/v2.m3u8?token=secret", session: "a")
        let vlc = try start(address, port: port, home: scratch.file("home"))
        defer { kill(vlc.processIdentifier, SIGKILL) }
        let configuration = VLCRemoteConfiguration(waitsForPlayer: true, retryDelay: .milliseconds(50))
        let player = try VLCRemotePlayer(at: "\(port)", password: "secret", configuration: configuration)
        let signals = Lock<[PlayerSignal]>([])
        let (played, gone) = (Gate(), Gate())
        player.report { signal in
            signals.withLock { $0.append(signal) }
            if signal.action == .bufferFinish { played.open() }
            if signal.action == .stop { gone.open() }
        }
        player.connect()
        await played.wait()
        kill(vlc.processIdentifier, SIGKILL)
        await gone.wait()
        player.close()
        let seen = signals.withLock { $0 }
        #expect(seen.map(\.action) == [.streamLoad, .start, .bufferBegin, .bufferFinish, .stop])
        #expect(seen.first?.status?.source == origin.url("vod/ts/v2.m3u8", session: "a"))
        #expect(seen.last?.status?.resolutionWidth != nil)
        await origin.stop()
    }
}
#endif
