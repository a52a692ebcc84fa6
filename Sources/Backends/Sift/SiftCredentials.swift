internal import Instrument
internal import InstrumentHTTP
internal import InstrumentText

/// Account and beacon key. Kept in memory alone: no description, log, error or file shows them.
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

    /// The account, percent-encoded except the unreserved characters of RFC 3986.
    var encodedAccount: String { PercentCoding.encoded(accountID) }

    /// The texts that a server may repeat and that must not be shown.
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
