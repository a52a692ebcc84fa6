import ArgumentParser
import Testing

@testable import InstrumentCommands

/// What `--help` shows on a terminal of 80 columns.
@Suite("Help")
struct HelpTests {
    private static func all(_ command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        [command] + command.configuration.subcommands.flatMap { all($0) }
    }

    @Test("No example is broken by the width of a terminal, so that it can be copied")
    func examples() {
        var count = 0
        for command in Self.all(PlayerMonitor.self) {
            let lines = command.helpMessage(columns: 80).split(separator: "\n", omittingEmptySubsequences: false)
            guard let begin = lines.firstIndex(where: { $0.hasPrefix("Example") }) else { continue }
            for line in lines[(begin + 1)...].prefix(while: { !$0.isEmpty }) {
                count += 1
                #expect(line.hasPrefix("  "), "\(command): \(line)")
            }
        }
        #expect(count > 30)
    }
}
