import Foundation
import Instrument
import InstrumentHTTP
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentNATS

/// Credentials files, as decentralized authentication of NATS has them: an operator signs accounts, an account signs
/// users.
@Suite(
    "NATS credentials with a real server",
    .ownThread,
    .timeLimit(.minutes(30)),
    .enabled(if: NATSServer.isInstalled, "scripts/install-servers.sh installs nats-server")
)
struct NATSCredentialsTests {
    /// A key of any role; its text has the role's letter.
    private struct Key {
        let seed = (0..<32).map { _ in UInt8.random(in: 0...255) }
        let prefix: UInt8

        /// - Parameter role: 14 for an operator, 0 for an account, 20 for a user.
        init(role: UInt8) { prefix = role << 3 }

        var publicText: String { NKey.text([prefix] + (Ed25519.publicKey(of: seed) ?? [])) }
        var seedText: String { NKey.text([18 << 3 | prefix >> 5, (prefix & 31) << 3] + seed) }

        /// A token about `subject`, signed by this key.
        func token(_ subject: Key, _ claims: String) throws -> String {
            let body = """
                {"jti":"\(UUID().uuidString)","iat":1700000000,"iss":"\(publicText)","name":"test","sub":"\(subject.publicText)",\
                "nats":{\(claims),"version":2}}
                """
            let text =
                Self.encoded(Array("{\"typ\":\"JWT\",\"alg\":\"ed25519-nkey\"}".utf8)) + "."
                + Self.encoded(Array(body.utf8))
            let signature = try #require(Ed25519.signature(of: Array(text.utf8), seed: seed))
            return text + "." + Self.encoded(signature)
        }

        private static func encoded(_ bytes: [UInt8]) -> String {
            Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
                .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
        }
    }

    @Test("A credentials file opens the connection, and a key that the account did not sign does not")
    func credentials() async throws {
        let (operatorKey, system, account, user) = (Key(role: 14), Key(role: 0), Key(role: 0), Key(role: 20))
        let limits = { (storage: Int) in
            """
            "limits":{"subs":-1,"data":-1,"payload":-1,"imports":-1,"exports":-1,"wildcards":true,"conn":-1,"leaf":-1,\
            "mem_storage":\(storage),"disk_storage":\(storage),"streams":-1,"consumer":-1},"type":"account"
            """
        }
        let server = try await NATSServer(
            """
            operator: \(try operatorKey.token(operatorKey, "\"type\":\"operator\""))
            system_account: \(system.publicText)
            resolver: MEMORY
            resolver_preload: {
                \(system.publicText): \(try operatorKey.token(system, limits(0)))
                \(account.publicText): \(try operatorKey.token(account, limits(-1)))
            }
            """
        )
        let claims = "\"pub\":{},\"sub\":{},\"subs\":-1,\"data\":-1,\"payload\":-1,\"type\":\"user\""
        let jwt = try account.token(user, claims)
        // The login succeeds where the answer is about the stream.
        for (key, words) in [(user, "create a stream"), (Key(role: 20), "Authorization Violation")] {
            let file = """
                -----BEGIN NATS USER JWT-----
                \(jwt)
                ------END NATS USER JWT------

                -----BEGIN USER NKEY SEED-----
                \(key.seedText)
                ------END USER NKEY SEED------

                """
            let endpoint = try NATSEndpoint(
                servers: [server.address],
                subject: "samples",
                login: NATSLogin(parsing: file)
            )
            let backend = try NATSBackend(endpoint, configuration: NATSConfiguration(timeout: .seconds(300)))
            guard case .unauthorized(let reason) = await backend.deliver(SessionSamples.batch(0..<1)) else {
                throw NoServer(why: "accepted")
            }
            #expect(reason.contains(words) && !reason.contains(jwt))
        }
    }
}
