import Foundation
import Instrument
import InstrumentHTTP
import InstrumentJSON
import InstrumentWatch
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentMonitor
@testable import InstrumentMonitorRuntime

/// A finding of a check with its evidence.
func finding(_ pieces: [EvidencePiece] = EvidencePiece.all, rule: String = "black") -> MonitorInput {
    var observation = CheckObservation(broken: [.init(rule: rule, message: "The picture is black.")])
    observation.evidence = [rule: pieces]
    return .checked(observation)
}

extension EvidencePiece {
    static let picture = EvidencePiece(.picture, ending: "jpg", text: "the black picture", bytes: [0xFF, 0xD8, 1, 2])
    static let playlist = EvidencePiece(
        .playlist,
        ending: "m3u8",
        text: "a.m3u8",
        bytes: Array("<script>document.title='broken'</script>".utf8)
    )
    static let segment = EvidencePiece(
        .segment,
        ending: "ts",
        text: "a0.ts",
        bytes: [UInt8](repeating: 0x47, count: 188)
    )
    static let all = [picture, playlist, segment]
}

@Suite("Evidence in the model")
struct EvidenceTests {
    private func drive() throws -> Drive {
        var watched = try stream("a")
        (watched.checks.black, watched.checks.stale) = (.seconds(5), 1.5)
        var drive = Drive(configuration([watched], [try alert("black", "check_failed > 0")]))
        drive.run(for: .seconds(10))
        return drive
    }

    private func kinds(_ json: JSONValue?) -> [String] {
        guard case .array(let list)? = json else { return [] }
        return list.compactMap { $0["kind"]?.string }
    }

    private func evidence(_ drive: Drive, _ rule: String = "black") -> JSONValue? {
        guard case .array(let checks)? = drive.documents.detail(of: "a")?["checks"] else { return nil }
        return checks.first { $0["rule"]?.string == rule }?["evidence"]
    }

    @Test("The evidence of a fault is kept once, under the finding and the incident, and that of the next fault too")
    func episodes() throws {
        var drive = try drive()
        drive.send(finding(EvidencePiece.all), to: "a")
        drive.send(finding(EvidencePiece.all), to: "a")
        #expect(drive.kept.map(\.kind) == [.picture, .playlist, .segment])
        #expect(kinds(evidence(drive)) == ["picture", "playlist", "segment"])
        guard case .array(let list)? = evidence(drive), let piece = list.first else { return #expect(Bool(false)) }
        #expect(piece["href"]?.string == "/api/evidence/" + (piece["id"]?.string ?? ""))
        #expect(piece["time"]?.string == "2026-01-01T00:00:10.000Z")
        drive.run(for: .seconds(20))
        let id = try #require(drive.model.book.order.last)
        #expect(drive.model.book.incidents[id]?.title == "Black picture")
        #expect(
            kinds(drive.documents.detail(ofIncident: id)?["evidence"]) == ["picture", "playlist", "segment"]
        )
        guard case .array(let incidents) = drive.documents.incidents else {
            return #expect(Bool(false))
        }
        #expect(kinds(incidents.last?["evidence"]).count == 3)
        // The picture returns, and an hour later it is black again.
        drive.send(.checked(CheckObservation()), to: "a")
        drive.run(for: .seconds(120))
        drive.send(.checked(CheckObservation()), to: "a")
        drive.run(for: .seconds(3_600))
        #expect(drive.model.stream(named: "a")?.checks["black"]?.isBroken == false)
        // The incident that closed keeps its own.
        #expect(kinds(drive.documents.detail(ofIncident: id)?["evidence"]).count == 3)
        drive.send(finding([.picture]), to: "a")
        #expect(drive.kept.count == 4)
        #expect(kinds(evidence(drive)) == ["picture"])
        #expect(kinds(drive.documents.detail(ofIncident: id)?["evidence"]).count == 3)
    }

    @Test("The limit of the stream decides which age of a playlist has evidence")
    func stale() throws {
        var drive = try drive()
        func age(_ seconds: Int) {
            var observation = CheckObservation(playlistAge: .seconds(seconds), targetDuration: .seconds(6))
            observation.evidence = ["stale": [.playlist]]
            drive.send(.checked(observation), to: "a")
        }
        age(7)
        #expect(drive.kept.isEmpty)
        age(10)
        #expect(drive.kept.map(\.rule) == ["stale"])
    }

    @Test("Number and size are bounded, for each stream and in all, and the oldest pieces are deleted")
    func bounds() throws {
        var limits = EvidenceBook.Limits()
        (limits.pieces, limits.bytes, limits.piecesOfStream) = (10, 1_000, 4)
        var book = EvidenceBook(limits: limits)
        var there: [String] = []
        func add(_ stream: String, _ count: Int) {
            let piece = EvidencePiece(.segment, ending: "ts", text: "", bytes: [UInt8](repeating: 1, count: count))
            guard let (entry, gone) = book.add(piece, of: stream, rule: "r", at: WallTime(milliseconds: 5)) else {
                return
            }
            there.append(entry.id)
            there.removeAll { gone.contains($0) }
        }
        for number in 0..<100 { add("flickers", 10 + number % 3) }
        #expect(book.count == 4 && there.count == 4)
        for number in 0..<1_000 { add("s\(number)", 50) }
        #expect(book.count == 10 && Set(there).count == 10 && book.byteCount == 500)
        add("large", 900)
        #expect(book.byteCount <= 1_000 && book.count == there.count)
        add("too large", 1_001)
        add("empty", 0)
        #expect(book.entries(of: "too large").isEmpty && book.entries(of: "empty").isEmpty)
        for id in there { #expect(book[id] != nil) }
    }

    @Test("Pieces of an earlier process are under its findings and incidents; those beyond the bounds are deleted")
    func restored() throws {
        var first = try drive()
        first.send(finding(EvidencePiece.all), to: "a")
        first.run(for: .seconds(20))
        let saved = try #require(SavedMonitor(first.saved.bytes))
        let entries = first.kept.compactMap { EvidenceEntry($0.json) }
        #expect(entries == first.kept)
        var second = Drive(first.model.configuration, at: 60_000, restoring: saved)
        #expect(second.model.evidence.restore(entries) == [])
        #expect(kinds(evidence(second)) == ["picture", "playlist", "segment"])
        // The fault lasts: its first pieces stay.
        second.run(for: .seconds(5))
        second.send(finding(EvidencePiece.all), to: "a")
        #expect(second.kept.isEmpty)
        let id = try #require(second.model.book.order.last)
        #expect(kinds(second.documents.detail(ofIncident: id)?["evidence"]).count == 3)
        var limits = EvidenceBook.Limits()
        limits.pieces = 1
        var small = EvidenceBook(limits: limits)
        #expect(small.restore(entries).count == 2)
    }

    @Test("Requests that failed are under the incident, also after a restart, and leave the pictures their room")
    func requests() throws {
        var first = Drive(configuration([try stream("a")], [try alert("down", "up == 0")]))
        first.run(for: .seconds(10))
        first.send(finding([.picture]), to: "a")
        for _ in 0..<10 {
            for _ in 0..<3 { first.request("v/live.m3u8", 503) }
            first.emit(.bufferBegin, "a")
            first.run(for: .seconds(20))
            first.request("v/live.m3u8")
            first.emit(.bufferFinish, "a")
            first.run(for: .seconds(120))
        }
        let requests = first.kept.filter { $0.kind == .request }
        #expect(requests.count == 5 && Set(requests.map(\.text)).count == 1)
        #expect(first.kept.contains { $0.kind == .picture })
        for entry in first.kept { #expect(EvidenceEntry(entry.json) == entry) }
        for _ in 0..<3 { first.request("v/live.m3u8", 503) }
        first.behaviours["a"] = .fails(after: .seconds(1), code: "httpStatus")
        first.send(.ended(.failed(code: "httpStatus", message: "status 503")), to: "a")
        first.run(for: .seconds(30))
        let id = try #require(first.model.book.order.last)
        let before = first.documents.detail(ofIncident: id)?["evidence"]
        #expect(!kinds(before).isEmpty && kinds(before).allSatisfy { $0 == "request" })
        let saved = try #require(SavedMonitor(first.saved.bytes))
        let time = Int64(first.seconds * 1_000) + 5_000
        var second = Drive(first.model.configuration, at: time, restoring: saved)
        #expect(second.model.evidence.restore(first.kept) == [])
        #expect(second.documents.detail(ofIncident: id)?["evidence"] == before)
        let entry = try #require(first.kept.last)
        #expect(second.documents.archive(of: "a") == .kept(id: entry.id))
        #expect(second.model.evidence[entry.id] == entry)
    }

    @Test("Findings survive a restart, unless the configuration no longer looks for them; old files have none")
    func findings() throws {
        var first = try drive()
        first.send(finding(EvidencePiece.all), to: "a")
        first.send(finding([], rule: "silence"), to: "a")
        let bytes = first.saved.bytes
        let saved = try #require(SavedMonitor(bytes))
        let second = Drive(first.model.configuration, at: 500_000, restoring: saved)
        let check = try #require(second.model.stream(named: "a")?.checks["black"])
        #expect(check.isBroken && check.since.wallTime == Drive.time(10_000).wallTime && check.count == 1)
        #expect(check.message == "The picture is black.")
        // `silence` is not configured.
        #expect(second.model.stream(named: "a")?.checks["silence"] == nil)
        #expect(
            second.model.stream(named: "a")?.cause?.title == "Black picture"
                || second.model.stream(named: "a")?.cause == nil
        )
        var json = try JSONValue(parsing: bytes)
        if case .object(var members) = json {
            members["findings"] = nil
            json = .object(members)
        }
        #expect(SavedMonitor(json.bytes)?.findings == [])
        if case .object(var members) = json {
            members["findings"] = .array([
                1, ["stream": "a"], ["stream": "a", "rule": "black", "broken": true, "since": 5],
            ])
            json = .object(members)
        }
        #expect(SavedMonitor(json.bytes)?.findings.count == 1)
    }

    @Test("A finding of an earlier process is over once the check no longer finds it")
    func restoredFindingEnds() throws {
        var first = try drive()
        first.send(finding(EvidencePiece.all), to: "a")
        let saved = try #require(SavedMonitor(first.saved.bytes))
        var second = Drive(first.model.configuration, at: 500_000, restoring: saved)
        for _ in 0..<8 {
            second.run(for: .seconds(10))
            second.send(.checked(CheckObservation()), to: "a")
        }
        #expect(second.model.stream(named: "a")?.checks["black"]?.isBroken == false)
    }

    @Test(
        "The head of another file is refused",
        arguments: [
            "{}", "{\"version\":2}",
            "{\"version\":1,\"id\":\"../../../etc/passw\",\"stream\":\"a\",\"rule\":\"b\",\"kind\":\"segment\",\"time\":1,\"bytes\":1}",
            "{\"version\":1,\"id\":\"0123456789abcdef\",\"stream\":\"a\",\"rule\":\"b\",\"kind\":\"page\",\"time\":1,\"bytes\":1}",
            "{\"version\":1,\"id\":\"0123456789abcdef\",\"stream\":\"a\",\"rule\":\"b\",\"kind\":\"segment\",\"time\":1,\"bytes\":99999999}",
        ]
    )
    func heads(text: String) throws { #expect(EvidenceEntry(try JSONValue(parsing: text)) == nil) }
}

@Suite("Evidence on disk", .ownThread, .timeLimit(.minutes(30)))
struct EvidenceFolderTests {
    private let scratch: Scratch
    private let warnings = Lock<[String]>([])

    init() throws { scratch = try Scratch() }

    private func folder(_ path: String? = nil) -> EvidenceFolder {
        EvidenceFolder(path ?? scratch.file("state/evidence")) { [warnings] text in
            warnings.withLock { $0.append(text) }
        }
    }

    private static func watched(_ name: String) throws -> WatchedStream { try stream(name) }

    private func entries(_ pieces: [EvidencePiece] = EvidencePiece.all, _ stream: String = "a/../b") throws -> [(
        EvidenceEntry, [UInt8]
    )] {
        var drive = Drive(configuration([try Self.watched(stream)]))
        drive.run(for: .seconds(1))
        drive.send(finding(pieces), to: stream)
        return zip(drive.kept, pieces.map(\.bytes)).map { ($0, $1) }
    }

    @Test("Pieces are there after a restart, whole")
    func restart() throws {
        let first = folder()
        #expect(first.entries() == [])
        let pieces = try entries()
        for (entry, bytes) in pieces { first.keep(entry, bytes) }
        let second = folder()
        #expect(Set(second.entries()) == Set(pieces.map(\.0)))
        for (entry, bytes) in pieces { #expect(second.read(entry.id) == bytes) }
        second.remove(pieces[0].0.id)
        #expect(second.read(pieces[0].0.id) == nil)
        #expect(folder().entries().count == 2)
        #expect(warnings.withLock { $0 } == [])
    }

    /// Pieces that a folder keeps.
    private func keptPieces() throws -> [(EvidenceEntry, [UInt8])] {
        let folder = folder()
        _ = folder.entries()
        let pieces = try entries()
        for (entry, bytes) in pieces { folder.keep(entry, bytes) }
        return pieces
    }

    /// The file of a piece.
    private func path(_ id: String) -> String { scratch.file("state/evidence/\(id).evidence") }

    @Test("What cannot be read now is reported once, and left alone; the others are there")
    func unreadable() throws {
        let pieces = try keptPieces()
        // A folder and a link, where files were.
        for (place, (entry, _)) in pieces.prefix(2).enumerated() {
            try FileManager.default.moveItem(atPath: path(entry.id), toPath: scratch.file("piece\(place)"))
        }
        try FileManager.default.createDirectory(atPath: path(pieces[0].0.id), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: path(pieces[1].0.id),
            withDestinationPath: scratch.file("piece1")
        )
        #expect(folder().entries() == [pieces[2].0])
        let told = warnings.withLock { $0 }
        #expect(told.count == 1 && told[0].contains("and 1 more") && told[0].contains("left as they are"), "\(told)")
        for (entry, _) in pieces { #expect(FileManager.default.fileExists(atPath: path(entry.id))) }
        #expect(FileManager.default.fileExists(atPath: scratch.file("piece1")))
    }

    @Test("Damaged files are reported, and the others and files of others stay")
    func damaged() throws {
        let pieces = try keptPieces()
        // The head of one, and the content of another.
        try Data("nonsense".utf8).write(to: URL(fileURLWithPath: path(pieces[0].0.id)))
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path(pieces[1].0.id)))
        bytes[bytes.count - 2] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path(pieces[1].0.id)))
        let foreign = scratch.file("state/evidence/notes.txt")
        try Data("mine".utf8).write(to: URL(fileURLWithPath: foreign))
        let leftover = path(pieces[2].0.id) + ".new"
        try Data().write(to: URL(fileURLWithPath: leftover))
        let second = folder()
        #expect(second.entries().count == 2)
        #expect(
            warnings.withLock { $0.count } == 1 && warnings.withLock { $0.first ?? "" }.contains("1 file of evidence")
        )
        #expect(second.read(pieces[1].0.id) == nil)
        #expect(warnings.withLock { $0.last ?? "" }.contains("is damaged"))
        #expect(second.read(pieces[2].0.id) == pieces[2].1)
        #expect(FileManager.default.fileExists(atPath: foreign))
        #expect(
            !FileManager.default.fileExists(atPath: leftover)
                && !FileManager.default.fileExists(atPath: path(pieces[0].0.id))
        )
    }

    @Test("A folder that cannot be written is reported once, and the pieces are in memory")
    func unwritable() throws {
        try Data("a file".utf8).write(to: URL(fileURLWithPath: scratch.file("plain")))
        let store = folder(scratch.file("plain/evidence"))
        #expect(store.entries() == [])
        let pieces = try entries()
        for (entry, bytes) in pieces { store.keep(entry, bytes) }
        #expect(warnings.withLock { $0.count } == 2)
        for (entry, bytes) in pieces { #expect(store.read(entry.id) == bytes) }
    }

    @Test("On a full disk, pieces are kept in memory, and on disk again once there is room")
    func fullDisk() async throws {
        let disk = scratch.file("disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        let mount = try await command(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk])
        guard mount.status == 0 else {
            return print("SKIPPED: evidence on a full disk, because no file system can be mounted (\(mount.errors))")
        }
        do { try fill(disk) } catch {
            _ = try await command(["umount", "-l", disk])
            throw error
        }
        _ = try await command(["umount", "-l", disk])
    }

    private func fill(_ disk: String) throws {
        let store = folder(disk + "/evidence")
        _ = store.entries()
        let large = EvidencePiece(.segment, ending: "ts", text: "", bytes: [UInt8](repeating: 0x47, count: 40 << 10))
        let pieces = try entries([large, large, large])
        for (entry, bytes) in pieces { store.keep(entry, bytes) }
        #expect(warnings.withLock { $0.count } == 1 && warnings.withLock { $0.first ?? "" }.contains("kept in memory"))
        for (entry, bytes) in pieces { #expect(store.read(entry.id) == bytes) }
        for (entry, _) in pieces { store.remove(entry.id) }
        store.keep(pieces[0].0, pieces[0].1)
        #expect(folder(disk + "/evidence").entries().count == 1)
    }
}

@Suite("Evidence and checks over HTTP", .ownThread, .timeLimit(.minutes(30)))
struct EvidenceServerTests {
    private func withMonitor(
        _ settings: ServerConfiguration = ServerConfiguration(),
        checker: (any StreamChecker)? = nil,
        _ body: (ServedMonitor) async throws -> Void
    ) async throws {
        var watched = try stream("<a href=x>\r\nname", labels: ["cdn": "alpha"])
        watched.checks.black = .seconds(5)
        let served = try await ServedMonitor([watched, try stream("plain")], settings, checker: checker)
        do { try await body(served) } catch {
            await served.stop()
            throw error
        }
        await served.stop()
    }

    @Test("Foreign content can be read and saved, and never runs as a page of the monitor")
    func headers() async throws {
        try await withMonitor { served in
            let name = "<a href=x>\r\nname"
            served.source.emit(finding(EvidencePiece.all), to: name)
            await served.monitor.settle()
            let port = served.server.port
            let path = "/api/stream?name=" + PercentCoding.encoded(name)
            let checks = try JSONValue(parsing: try RawClient.get(path, port: port).body)["checks"]
            guard case .array(let list)? = checks, case .array(let pieces)? = list.first?["evidence"] else {
                return #expect(Bool(false))
            }
            #expect(pieces.count == 3)
            for (piece, (type, disposition)) in zip(
                pieces,
                [
                    ("image/jpeg", "inline"), ("text/plain; charset=utf-8", "inline"),
                    ("application/octet-stream", "attachment"),
                ]
            ) {
                let answer = try RawClient.get(try #require(piece["href"]?.string), port: port)
                #expect(answer.status == 200)
                for line in [
                    "Content-Type: \(type)", "X-Content-Type-Options: nosniff", "X-Frame-Options: DENY",
                    "Content-Security-Policy: default-src 'none'; sandbox; frame-ancestors 'none'",
                    "Cross-Origin-Resource-Policy: same-origin",
                    "Content-Disposition: \(disposition); filename=\"-a-href-x---name-black-",
                ] { #expect(answer.head.contains(line), "\(line)\n\(answer.head)") }
            }
            for id in ["0123456789abcdef", "..%2F..%2Fetc%2Fpasswd", "", "x", "0123456789ABCDEF"] {
                #expect(try RawClient.get("/api/evidence/" + id, port: port).status == 404)
            }
        }
    }

    private func post(_ name: String, port: Int, _ headers: String...) throws -> (status: Int, body: String) {
        let client = try RawClient(port: port)
        let more = headers.map { $0 + "\r\n" }.joined()
        client.send(
            "POST /api/check?name=\(PercentCoding.encoded(name)) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                + "\(more)Content-Length: 12\r\nConnection: close\r\n\r\n{\"by\":\"Ana\"}"
        )
        let answer = client.read()
        let body = answer.range(of: "\r\n\r\n").map { String(answer[$0.upperBound...]) } ?? ""
        return (Int(answer.split(separator: " ").dropFirst().first ?? "") ?? 0, body)
    }

    @Test("A check that a person asks for runs once at a time, its findings appear, and the log says who asked")
    func checkNow() async throws {
        let checker = ScriptedChecker()
        try await withMonitor(checker: checker) { served in
            let (name, port) = ("<a href=x>\r\nname", served.server.port)
            let path = "/api/stream?name=" + PercentCoding.encoded(name)
            #expect(try post(name, port: port).status == 202)
            let second = try post(name, port: port)
            #expect(second.status == 409 && second.body.contains("runs already"))
            #expect(try JSONValue(parsing: try RawClient.get(path, port: port).body)["checking"] == true)
            let off = try post("plain", port: port)
            #expect(off.status == 409 && off.body.contains("has no checks"))
            #expect(try post("other", port: port).status == 404)
            guard case .checked(let observation) = finding(EvidencePiece.all) else { return }
            checker.report(.found(observation))
            checker.report(.ended(observation))
            await served.monitor.settle()
            let detail = try JSONValue(parsing: try RawClient.get(path, port: port).body)
            #expect(detail["checking"] == nil && detail["broken"] == ["black"])
            #expect(try post(name, port: port).status == 202)
            let audit = try JSONValue(parsing: try RawClient.get("/api/audit", port: port).body)
            guard case .array(let entries)? = audit["audit"] else { return #expect(Bool(false)) }
            #expect(entries.map { $0["action"]?.string } == ["check", "check"])
            #expect(entries.first?["by"]?.string == "Ana")
        }
        #expect(checker.isCancelled.withLock { $0 })
    }

    @Test("A token that may only read starts no check, and updates name its role")
    func role() async throws {
        let settings = ServerConfiguration()
        settings.access.replace(tokens: [
            (ServerClient(name: "wall", role: .read), Array("r".utf8)),
            (ServerClient(name: "ana", role: .act), Array("a".utf8)),
        ])
        let checker = ScriptedChecker()
        try await withMonitor(settings, checker: checker) { served in
            let (name, port) = ("<a href=x>\r\nname", served.server.port)
            #expect(try post(name, port: port, "Authorization: Bearer r").status == 403)
            #expect(try post(name, port: port, "Authorization: Bearer a").status == 202)
            for (token, role) in [("r", "read"), ("a", "act")] {
                let client = try RawClient(port: port)
                client.send("GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(token)\r\n\r\n")
                let text = client.read {
                    $0.components(separatedBy: "event: update\ndata: ").dropFirst().first?.contains("\n\n") == true
                }
                let line = try #require(text.components(separatedBy: "event: update\ndata: ").dropFirst().first)
                let update = try JSONValue(parsing: String(line.prefix { $0 != "\n" }))
                #expect(update["role"]?.string == role)
            }
        }
    }
}

/// Takes the wishes for checks, and reports what a test says.
final class ScriptedChecker: StreamChecker {
    private struct State {
        var sink: (@Sendable (CheckProgress) -> Void)?
    }

    private let state = Lock(State())
    let isCancelled = Lock(false)

    func check(_ stream: WatchedStream, report: @escaping @Sendable (CheckProgress) -> Void) {
        state.withLock { $0.sink = report }
    }
    func cancelChecks() { isCancelled.withLock { $0 = true } }
    func report(_ progress: CheckProgress) { state.withLock { $0.sink }?(progress) }
}

@Suite("Checks that people ask for")
struct CheckNowTests {
    private func drive(_ count: Int = 1) throws -> Drive {
        let streams = try (0..<count).map { number in
            var watched = try stream("s\(number)")
            watched.checks.rules = true
            return watched
        }
        var drive = Drive(configuration(streams))
        drive.run(for: .seconds(10))
        return drive
    }

    private func observation(_ rules: String...) -> CheckObservation {
        CheckObservation(broken: rules.map { .init(rule: $0, message: "m") })
    }

    private func broken(_ drive: Drive) -> [String] {
        drive.model.stream(named: "s0")?.checks.broken ?? []
    }

    @Test("Checks are bounded in all, and a stopping monitor starts none")
    func bounded() throws {
        var drive = try drive(6)
        let outcomes = (0..<6).map { drive.checkNow("s\($0)") }
        #expect(outcomes == [.starts, .starts, .starts, .starts, .busy, .busy])
        drive.report(.ended(nil), ofCheckOf: "s0")
        #expect(drive.checkNow("s4") == .starts)
        #expect(drive.checkNow("s9") == .unknown)
        drive.stop()
        #expect(drive.checkNow("s5") == .stopping)
    }

    @Test("A whole check clears what it did not find, and a round of it does not")
    func clears() throws {
        var drive = try drive()
        drive.send(.checked(observation("a", "b")), to: "s0")
        drive.run(for: .seconds(10))
        #expect(drive.checkNow("s0") == .starts)
        drive.run(for: .seconds(5))
        drive.report(.found(observation("c")), ofCheckOf: "s0")
        #expect(broken(drive) == ["a", "b", "c"])
        drive.run(for: .seconds(20))
        // The session's check finds it still.
        drive.send(.checked(observation("b")), to: "s0")
        drive.run(for: .seconds(5))
        drive.report(.ended(observation("c")), ofCheckOf: "s0")
        #expect(broken(drive) == ["b", "c"])
        drive.report(.ended(observation("d")), ofCheckOf: "s0")
        #expect(broken(drive) == ["b", "c"])
        let log = drive.model.stream(named: "s0")?.log.latest.map(\.text) ?? []
        #expect(log.contains("the check on request found c"))
    }

    @Test("A check that could read nothing clears nothing")
    func unreadable() throws {
        var drive = try drive()
        drive.send(.checked(observation("a")), to: "s0")
        drive.run(for: .seconds(10))
        #expect(drive.checkNow("s0") == .starts)
        drive.run(for: .seconds(30))
        var nothing = observation("manifest-unavailable")
        nothing.isReadable = false
        drive.report(.ended(nothing), ofCheckOf: "s0")
        #expect(broken(drive) == ["a", "manifest-unavailable"])
    }
}
