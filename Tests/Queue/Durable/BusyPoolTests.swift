import Foundation
import LoopbackServers
import Testing

/// In a separate process, because no other test would get a thread.
@Suite("An app whose tasks keep every thread of Swift's pool busy")
struct BusyPoolTests {
    @Test(
        "A lane delivers, retries, flushes and shuts down while the pool has no free thread",
        arguments: ["spinning", "blocked"],
        [true, false]
    )
    func delivery(kind: String, isDurable: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/pool-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let result = try await command([siblingProgram("PoolChild"), kind, isDurable ? folder : "memory"])
        #expect(result.output.hasSuffix("done\n"), "\(result)")
        #expect(result.status == 0)
    }
}
