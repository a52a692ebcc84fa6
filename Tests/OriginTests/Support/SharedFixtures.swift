import Foundation
import InstrumentOrigin

/// The fixtures, made once for all tests of a run.
enum SharedFixtures {
    static let directory = FileManager.default.temporaryDirectory.path + "/instrument-origin-tests"

    private static let made = Task { try await Fixtures.make(in: directory) }

    static func get() async throws -> Fixtures { try await made.value }
}
