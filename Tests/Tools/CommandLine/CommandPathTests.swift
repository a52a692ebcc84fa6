import ArgumentParser
import Testing

@testable import InstrumentCommandLine

@Suite("Mistyped commands")
struct CommandPathTests {
    private struct Play: ParsableCommand {}
    private struct Status: ParsableCommand {}
    private struct Queue: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "queue", subcommands: [Status.self])
    }
    private struct Root: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "root", subcommands: [Play.self, Queue.self])
    }

    @Test(
        "The path has the known commands, and the first unknown one gets a suggestion",
        arguments: [
            (["queue", "x"], "root queue", "'root queue' has no command 'x'; the commands are Status"),
            (["quuee"], "root", "'root' has no command 'quuee'; did you mean 'queue'?"),
            (["dance"], "root", "'root' has no command 'dance'; the commands are Play, queue"),
            (["Play", "dance"], "root Play", nil), (["--x", "dance"], "root", nil), (["help", "dance"], "root", nil),
            ([], "root", nil),
        ] as [([String], String, String?)]
    )
    func paths(arguments: [String], path: String, message: String?) {
        let found = CommandPath(Root.self, arguments)
        #expect(found.text == path)
        #expect(found.unknownCommand == message)
    }
}
