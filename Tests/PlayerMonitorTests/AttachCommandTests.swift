import Foundation
import Testing

// One after another, for the same reason as the other runs of the command line.
@Suite("player-monitor attach", .serialized)
struct AttachCommandTests {
    @Test("A real mpv is watched to its end; the summary tells of it")
    func attached() throws {
        let socket = NSTemporaryDirectory() + "attach-\(UUID().uuidString.prefix(8)).sock"
        let mpv = Process()
        mpv.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        mpv.arguments =
            ["mpv", "--no-config", "--vo=null", "--ao=null", "--really-quiet", "--no-terminal", "--length=3"]
            + ["--input-ipc-server=" + socket, Sample.path]
        try mpv.run()
        let end = Date(timeIntervalSinceNow: 20)
        while !FileManager.default.fileExists(atPath: socket), Date() < end { usleep(2000) }
        let run = try Run.playerMonitor("attach", "mpv:" + socket)
        mpv.waitUntilExit()
        #expect(run.status == 0)
        for name in ["TrackerInit", "StreamLoad", "Start ", "End ", "three-renditions.ts"] {
            #expect(run.output.contains(name))
        }
        #expect(run.errors.contains("watched until the player went away"))
        #expect(run.errors.contains("quality changes  0 up, 0 down"))
    }

    @Test("Nobody there ends with 1 and says what to do; an odd player with 2")
    func nobody() throws {
        let run = try Run.playerMonitor("attach", "mpv:/nonexistent/mpv.sock")
        #expect(run.status == 1)
        #expect(run.errors.contains("--wait"))
        for argument in ["mpv", "mpv:", "vlc:/x", "mpv:/" + String(repeating: "x", count: 200)] {
            #expect(try Run.playerMonitor("attach", argument).status == 2)
        }
    }
}
