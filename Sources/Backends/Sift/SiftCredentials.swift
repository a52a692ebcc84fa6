internal import InstrumentHTTP

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

    /// What a server may repeat and nobody may see.
    var secrets: [String] { [accountID, encodedAccount, beaconKey, Base64.encode(Array(beaconKey.utf8))] }

    /// A text without the secrets.
    func hidden(in text: String) -> String { HiddenTexts(secrets).hide(in: text) }
}

extension SiftCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// That there are some.
    public var description: String { "credentials" }
    /// That there are some.
    public var debugDescription: String { description }
    /// Shows nothing, so that `dump` gives no secret away.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
