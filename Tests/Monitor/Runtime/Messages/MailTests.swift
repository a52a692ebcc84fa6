import Foundation
import Instrument
import InstrumentBackendKinds
import InstrumentHTTP
import InstrumentJSON
import InstrumentMonitor
import InstrumentText
import InstrumentTransport
import InstrumentWatch
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentMonitorRuntime

@Suite("The form of mails")
struct MailFormatTests {
    @Test("A date is the one of RFC 5322, with its day of the week")
    func dates() {
        #expect(MailFormat.date(WallTime(milliseconds: 0)) == "Thu, 01 Jan 1970 00:00:00 +0000")
        #expect(MailFormat.date(WallTime(milliseconds: -1)) == "Wed, 31 Dec 1969 23:59:59 +0000")
        #expect(MailFormat.date(WallTime(milliseconds: 1_767_226_354_000)) == "Thu, 01 Jan 2026 00:12:34 +0000")
    }

    @Test("A header with foreign text has encoded words in lines of at most 76 characters, and no character is divided")
    func encodedWords() {
        #expect(MailFormat.encodedWords("plain words 7", after: 9) == "plain words 7")
        #expect(MailFormat.encodedWords("ü", after: 9) == "=?utf-8?B?w7w=?=")
        #expect(MailFormat.encodedWords("=?utf-8?B?QQ==?=", after: 9).hasPrefix("=?utf-8?B?PT91"))
        let long = MailFormat.encodedWords(String(repeating: "日本", count: 60), after: 9)
        for (index, line) in long.components(separatedBy: "\r\n").enumerated() {
            #expect(line.utf8.count + (index == 0 ? 9 : 0) <= 76)
            let words = line.trimmingCharacters(in: .whitespaces)
            #expect(words.hasPrefix("=?utf-8?B?") && words.hasSuffix("?="))
            let bytes = Base64.decode(String(words.dropFirst(10).dropLast(2)))
            #expect(bytes.flatMap { String(validating: $0, as: UTF8.self) } != nil)
        }
    }

    @Test(
        "An address is one that fits a header and a command",
        arguments: [
            ("ops@example.org", "ops@example.org"), ("Ops Team <ops@example.org>", "ops@example.org"),
            ("a.b+c@x-1.example", "a.b+c@x-1.example"), ("a@b@c", nil), ("ops", nil), ("@example.org", nil),
            ("a b@example.org", nil), ("a@exa mple.org", nil), ("a\r\nBcc: x@example.org", nil),
            ("a..b@example.org", nil),
            ("x\r\ny <a@example.org>", nil), ("a@example.org>, <b@example.org>", nil), ("a@example.org\nb", nil),
            ("", nil),
        ] as [(String, String?)]
    )
    func addresses(_ text: String, _ address: String?) { #expect(MailAddress(text)?.address == address) }
}

@Suite(
    "Messages by e-mail to a real server",
    .ownThread,
    .enabled(
        if: MailServer.python != nil,
        "SKIPPED: there is no aiosmtpd; scripts/install-servers.sh installs one"
    )
)
struct MailTests {
    private func settings(
        _ server: MailServer,
        _ recipients: [String] = ["ops@example.org"],
        encryption: MailSettings.Encryption = .startTLS,
        user: String? = nil,
        trusts: Bool = true
    ) throws -> MailSettings {
        MailSettings(
            recipients: try recipients.map { try #require(MailAddress($0)) },
            sender: try #require(MailAddress("Müller & Co <monitor@example.org>")),
            server: HostPort(host: "localhost", port: server.port),
            encryption: encryption,
            user: user,
            password: nil,
            authorities: trusts ? server.certificate : nil
        )
    }

    private func sender(_ settings: MailSettings, password: String? = nil) -> MailSender {
        MailSender(settings, transport: CurlMailTransport()) { password }
    }

    @Test("A mail has text and HTML, names its recipients, and refers to its incident", arguments: [true, false])
    func delivered(_ isImplicit: Bool) async throws {
        let server = try await MailServer(isImplicit ? .implicit : .startTLS)
        let encryption: MailSettings.Encryption = isImplicit ? .implicit : .startTLS
        let sender = sender(try settings(server, ["ops@example.org", "Ana <ana@example.org>"], encryption: encryption))
        for kind in [AlertMessage.Kind.opens, .closes] {
            let result = await sender.send(QueuedMessage(.sample(kind)))
            #expect(result.outcome == .acknowledged, "\(result)")
            #expect(result.answer == "250 2.0.0 taken")
        }
        let mails = try await server.mails(4)
        let recipients = mails.compactMap { $0["recipients"]?.list?.first?.string }
        #expect(recipients == ["ops@example.org", "ana@example.org", "ops@example.org", "ana@example.org"])
        let first = try #require(mails.first)
        #expect(first["subject"]?.string == "CRITICAL: 503 Service Unavailable from cdn-a.example")
        #expect(first["from"]?.string == "Müller & Co <monitor@example.org>")
        #expect(first["sender"]?.string == "monitor@example.org")
        #expect(first["to"]?.string == "ops@example.org, Ana <ana@example.org>")
        #expect(first["date"]?.string == "2026-01-01T00:12:34+00:00")
        for part in ["news-hd", "12 min 34 s", "https://wiki.example/down", "503 Service Unavailable"] {
            #expect(first["text"]?.string?.contains(part) == true && first["html"]?.string?.contains(part) == true)
        }
        #expect(Set(mails.map { $0["references"]?.string }).count == 1)
        #expect(Set(mails.map { $0["id"]?.string }).count == 2)
        for mail in mails {
            #expect(mail["defects"]?.list == [])
            #expect(mail["tls"] == true && mail["ascii"] == true && mail["bare"] == false)
        }
    }

    @Test("No hostile name adds a header, a recipient or markup to a mail")
    func hostile() async throws {
        let server = try await MailServer(.startTLS)
        let sender = sender(try settings(server))
        for number in 0..<UInt64(12) {
            let message = MessageFormatTests.hostileMessage(number, number % 2 == 0 ? .opens : .closes)
            let result = await sender.send(QueuedMessage(message))
            #expect(result.outcome == .acknowledged, "\(number): \(result)")
        }
        let known: Set<String> = [
            "Date", "From", "To", "Subject", "Message-ID", "In-Reply-To", "References", "Auto-Submitted",
            "X-Auto-Response-Suppress", "X-Instrument-Severity", "Importance", "X-Priority", "MIME-Version",
            "Content-Type",
        ]
        for mail in try await server.mails(12) {
            let names = (mail["names"]?.list ?? []).compactMap(\.string)
            #expect(names.allSatisfy { known.contains($0) }, "\(names)")
            #expect(mail["recipients"]?.list == ["ops@example.org"])
            #expect(mail["defects"]?.list == [])
            #expect(mail["ascii"] == true && mail["bare"] == false)
            #expect(mail["longest"]?.int ?? 999 <= 998)
            let html = mail["html"]?.string ?? ""
            #expect(!html.contains("<script") && !html.contains("<b>") && !html.contains("<!channel"))
            #expect(!(mail["subject"]?.string ?? "\n").contains { $0.isNewline })
        }
    }

    @Test("A server without TLS gets nothing, and one whose certificate is not trusted gets nothing")
    func encryption() async throws {
        let plain = try await MailServer(.plain)
        guard case .retry = await sender(try settings(plain)).send(QueuedMessage(.sample(.opens))).outcome else {
            return #expect(Bool(false))
        }
        #expect(plain.count == 0)
        let unknown = try await MailServer(.startTLS)
        let result = await sender(try settings(unknown, trusts: false)).send(QueuedMessage(.sample(.opens)))
        guard case .retry = result.outcome else { return #expect(Bool(false), "\(result)") }
        #expect(unknown.count == 0)
        // Without encryption only where the configuration says so, and then without a password.
        let allowed = await sender(try settings(plain, encryption: .none)).send(QueuedMessage(.sample(.opens)))
        #expect(allowed.outcome == .acknowledged)
        let careless = sender(try settings(plain, encryption: .none, user: "monitor"), password: "pass word")
        guard case .unauthorized = await careless.send(QueuedMessage(.sample(.opens))).outcome else {
            return #expect(Bool(false))
        }
        #expect(try await plain.mails(1).count == 1)
    }

    @Test("The right password delivers, and a wrong one waits for a person and is not shown")
    func login() async throws {
        let server = try await MailServer(.withLogin)
        let right = sender(try settings(server, user: "monitor"), password: "pass word")
        #expect(await right.send(QueuedMessage(.sample(.opens))).outcome == .acknowledged)
        let wrong = sender(try settings(server, user: "monitor"), password: "hush-hush")
        let outcome = await wrong.send(QueuedMessage(.sample(.opens))).outcome
        guard case .unauthorized(let reason) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(reason.contains("535"))
        #expect(!reason.contains("hush") && !reason.contains(Base64.encode(Array("hush-hush".utf8))))
        guard case .unauthorized = await sender(try settings(server)).send(QueuedMessage(.sample(.opens))).outcome
        else {
            return #expect(Bool(false))
        }
    }

    @Test("A recipient that is refused costs the others nothing, and one that was busy gets the mail once")
    func recipients() async throws {
        let server = try await MailServer(.startTLS)
        let sender = sender(try settings(server, ["ops@example.org", "busy@example.org", "refused@example.org"]))
        let message = QueuedMessage(.sample(.opens))
        guard case .retry(_, let reason) = await sender.send(message).outcome else { return #expect(Bool(false)) }
        #expect(reason.contains("451"))
        let second = await sender.send(message).outcome
        guard case .acknowledgedExcept = second else { return #expect(Bool(false), "\(second)") }
        #expect(second.failure?.contains("refused@example.org: SMTP: 550 5.1.1 no such user here") == true)
        let mails = try await server.mails(2)
        #expect(mails.compactMap { $0["recipients"]?.list?.first?.string } == ["ops@example.org", "busy@example.org"])
        let locked = MailSender(try settings(server, ["ops@example.org"]), transport: CurlMailTransport()) {
            () throws(UnreadableSecret) in throw UnreadableSecret("the password cannot be read")
        }
        #expect(await locked.send(message).outcome == .retry(after: nil, reason: "the password cannot be read"))
        let none = self.sender(try settings(server, ["refused@example.org"]))
        guard case .refused = await none.send(message).outcome else { return #expect(Bool(false)) }
    }
}
