import ArgumentParser
import Foundation
import Instrument
import InstrumentBackendKinds
import InstrumentBackends
import InstrumentCommandLine
import InstrumentWatch
import Testing

@testable import InstrumentCommands

@Suite("Kinds of backends")
struct BackendKindTests {
    private static let acme = BackendKind(
        "acme",
        summary: "the Acme service",
        credentials: .required("a key of Acme")
    ) { url, context in
        _ = try context.requiredCredentials().secret()
        return ConsoleBackend(name: "acme", format: .jsonLines, write: context.write)
    }

    /// The help of `play` at a width that breaks no line.
    private static var help: String { PlayerMonitor.helpMessage(for: PlayCommand.self, columns: 400) }

    private static func error(of arguments: [String]) -> String {
        do {
            _ = try PlayCommand.parse(arguments)
            return ""
        } catch { return PlayCommand.message(for: error) }
    }

    @Test("A kind that a tool adds is in the help, the completions, the errors and the option --backend")
    func addedKind() throws {
        #expect(!Self.help.contains("acme"))
        try BackendKinds.$current.withValue(BackendKinds(BackendKind.standard + [Self.acme])) {
            #expect(Self.help.contains("acme:URL: the Acme service; needs --credentials-from"))
            #expect(Self.help.contains("acme: a key of Acme"))
            #expect(PlayerMonitor.completionScript(for: .bash).contains("acme"))
            #expect(Self.error(of: ["--backend", "acmee:http://h/", "x"]).contains("did you mean 'acme'?"))
            #expect(Self.error(of: ["--backend", "acme:example.org", "x"]).contains("write acme:https://example.org"))
            let play = try PlayCommand.parse(["--backend", "acme:http://h/", "--backend", "console", "x"])
            #expect(play.delivery.backends.map(\.kind.name) == ["acme", "console"])
            #expect(play.delivery.backends.first?.address == "http://h/")
        }
    }

    @Test("A kind that a tool adds is read in a configuration of watch")
    func watchedKind() throws {
        let path = NSTemporaryDirectory() + "kinds-\(UUID().uuidString).yaml"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let text = "streams: []\nbackends: { a: { acme: \"http://h/\", credentials: { env: KEY } } }\n"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let watch = try WatchCommand.parse([path])
        let configuration = try watch.read(kinds: BackendKinds([Self.acme])).result.get()
        #expect(configuration.backends["a"]?.backend.kind.name == "acme")
        #expect(throws: (any Error).self) { try watch.read(kinds: BackendKinds(BackendKind.standard)).result.get() }
    }

    @Test("A kind replaces an earlier one of the same name in its place")
    func replacedKind() throws {
        let mine = BackendKind("json", summary: "mine") { _ in throw BackendKindError("not made") }
        let kinds = BackendKinds(BackendKind.standard + [mine])
        #expect(kinds.names == BackendKinds(BackendKind.standard).names)
        #expect(kinds.kind(named: "json")?.summary == "mine")
        #expect(try kinds.backend("json").kind.writesOutput == false)
    }

    @Test("No two kinds have the same name, and no name is a key beside the kind in a configuration of watch")
    func names() {
        let names = BackendKind.standard.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(Set(names).isDisjoint(with: ["credentials", "keep", "rotate"]))
        let letters = Set("abcdefghijklmnopqrstuvwxyz0123456789-")
        for name in names { #expect(letters.isSuperset(of: name), "\(name)") }
    }

    @Test("A kind that needs credentials says so in its help and in its error")
    func requiredCredentials() throws {
        let needing = BackendKind.standard.filter { $0.credentials?.isRequired == true }
        #expect(needing.map(\.name) == ["sift", "seer", "newrelic"])
        for kind in needing {
            #expect(kind.helpLine.hasSuffix("; needs --credentials-from"))
            let context = BackendContext(for: kind, credentials: nil, directory: nil, terminal: Terminal(isQuiet: true))
            let error = #expect(throws: BackendKindError.self) { try context.requiredCredentials() }
            let form = try #require(kind.credentials?.text)
            #expect(
                error?.description.hasPrefix("\(kind.name) requires --credentials-from: set a variable to \(form)")
                    == true
            )
        }
    }

    @Test("Two backends are equal if kind and address are")
    func equality() throws {
        let kinds = BackendKinds(BackendKind.standard)
        let files = try ["file:a", "file:b", "file:a", "console"].map { try kinds.backend($0) }
        #expect(files[0] == files[2] && files[0] != files[1] && files[0] != files[3])
        #expect(Set(files).count == 3)
    }
}
