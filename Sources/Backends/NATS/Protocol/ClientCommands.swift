internal import Instrument
internal import InstrumentHTTP
internal import InstrumentJSON
internal import InstrumentText

/// The lines that a client sends.
enum ClientCommands {
    /// `CONNECT`, with the proofs of the login.
    static func connect(_ login: NATSLogin?, _ info: ServerInfo, isEncrypted: Bool) -> [UInt8]? {
        var options: [String: JSONValue] = [
            "verbose": false, "pedantic": false, "tls_required": .bool(isEncrypted), "name": "instrument",
            "lang": "swift", "version": "1", "protocol": 1, "echo": false, "headers": true, "no_responders": true,
        ]
        switch login?.kind {
        case .token(let token)?: options["auth_token"] = .string(token)
        case .password(let user, let password)?:
            options["user"] = .string(user)
            options["pass"] = .string(password)
        case .key(let key)?:
            guard let signature = key.signature(of: info.nonce ?? "") else { return nil }
            options["nkey"] = .string(key.publicText)
            options["sig"] = .string(urlText(signature))
        case .credentials(let jwt, let key)?:
            guard let signature = key.signature(of: info.nonce ?? "") else { return nil }
            options["jwt"] = .string(jwt)
            options["sig"] = .string(urlText(signature))
        case nil: break
        }
        return Array("CONNECT ".utf8) + JSONValue.object(options).bytes + Array("\r\n".utf8)
    }

    static func subscribe(_ inbox: String) -> [UInt8] { Array("SUB \(inbox).* 1\r\n".utf8) }

    static let ping = Array("PING\r\n".utf8)
    static let pong = Array("PONG\r\n".utf8)

    /// The headers of a message, as they are sent. Characters that would end a header become spaces.
    static func headers(_ headers: [NATSMessage.Header]) -> [UInt8] {
        var bytes = Array("NATS/1.0\r\n".utf8)
        for header in headers {
            bytes += header.name.utf8.map {
                $0 <= 0x20 || $0 == UInt8(ascii: ":") || $0 == 0x7F ? UInt8(ascii: "-") : $0
            }
            bytes += ": ".utf8
            bytes += header.value.utf8.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }
            bytes += "\r\n".utf8
        }
        bytes += "\r\n".utf8
        return bytes
    }

    /// `HPUB`.
    static func append(_ message: OutgoingMessage, replyTo inbox: [UInt8], _ number: Int, to bytes: inout [UInt8]) {
        bytes += "HPUB ".utf8
        bytes += message.subject.utf8
        bytes.append(0x20)
        bytes += inbox
        bytes.append(UInt8(ascii: "."))
        bytes.append(decimal: number)
        bytes.append(0x20)
        bytes.append(decimal: message.headers.count)
        bytes.append(0x20)
        bytes.append(decimal: message.size)
        bytes += "\r\n".utf8
        bytes += message.headers
        bytes += message.payload
        bytes += "\r\n".utf8
    }

    /// Base 64 in the alphabet for addresses, without padding (RFC 4648, section 5).
    private static func urlText(_ bytes: [UInt8]) -> String {
        let text = Base64.encode(bytes).utf8.filter { $0 != UInt8(ascii: "=") }.map { byte in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// A message that is about to be published, and the sample that it is of.
struct OutgoingMessage: Sendable {
    let id: SampleID
    let subject: String
    let headers: [UInt8]
    let payload: [UInt8]

    /// What the server's limit applies to.
    var size: Int { headers.count + payload.count }
}
