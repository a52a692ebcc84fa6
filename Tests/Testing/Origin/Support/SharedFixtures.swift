import Foundation
import InstrumentOrigin
import LoopbackServers

/// The fixtures, made once for all tests of a run.
enum SharedFixtures {
    static let directory = MediaCache.origin

    private static let made = Task { try await Fixtures.make(in: directory) }

    static func get() async throws -> Fixtures { try await made.value }
}
