internal import InstrumentTransport

/// Account and beacon key. Kept in memory alone: no description, log, error or file of ours shows them.
public struct SiftCredentials: Sendable {
    let accountID: String
    let beaconKey: String

    /// Creates credentials; nil if one is empty, or the account cannot be part of an address (`.` and `..`).
    public init?(accountID: String, beaconKey: String) {
        guard !accountID.isEmpty, !beaconKey.isEmpty, accountID != ".", accountID != ".." else { return nil }
        self.accountID = accountID
        self.beaconKey = beaconKey
    }

    /// The value of the `Authorization` header: the key alone, without user name and colon.
    var authorization: String { "Basic " + Base64.encode(Array(beaconKey.utf8)) }

    /// The account, percent-encoded but for what RFC 3986 never reserves.
    var encodedAccount: String {
        let (digits, marks) = (Array("0123456789ABCDEF".utf8), "-._~".utf8)
        var bytes: [UInt8] = []
        for byte in accountID.utf8 {
            let isAlphanumeric = "a"..."z" ~= Unicode.Scalar(byte | 0x20) || "0"..."9" ~= Unicode.Scalar(byte)
            if isAlphanumeric || marks.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A text of a server's, without what it may repeat of the credentials.
    func hidden(in text: String) -> String {
        let secrets = [accountID, encodedAccount, beaconKey, Base64.encode(Array(beaconKey.utf8))]
        // By bytes: a mark that combines with the last letter would hide a secret from a comparison by characters.
        let bytes = secrets.sorted { $0.utf8.count > $1.utf8.count }.reduce(Array(text.utf8)) { bytes, secret in
            bytes.replacing(Array(secret.utf8), with: Array("…".utf8))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension SiftCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// That there are some.
    public var description: String { "credentials" }
    /// That there are some.
    public var debugDescription: String { description }
    /// Shows nothing, so that `dump` gives no secret away.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
