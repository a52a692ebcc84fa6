internal import Instrument

/// The machine's identifier, only in derived form: cloned images share the original, and it would connect the data of
/// different apps.
enum MachineIdentifier {
    /// Returns a UUID for one app on one machine, as systemd derives it (`sd_id128_get_machine_app_specific(3)`):
    /// HMAC-SHA256 with the machine's 16 bytes as key over the app's 16 bytes; the first 16 bytes become a UUID of
    /// version 4.
    static func derived(from machine: [UInt8], for app: [UInt8]) -> String {
        var bytes = Array(HMAC.sha256(of: app, key: machine).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return UUIDText.describe(high: word(bytes[0..<8]), low: word(bytes[8..<16]))
    }

    /// 16 bytes for an app's name: the first of its SHA-256.
    static func app(named name: String) -> [UInt8] { Array(SHA256.digest(of: Array(name.utf8)).prefix(16)) }

    /// Reads `/etc/machine-id` (machine-id(5)): 32 hexadecimal digits, not all zero; nil for anything else.
    static func read(_ tree: FileTree) -> [UInt8]? {
        guard let text = tree.string("/etc/machine-id"), text.utf8.count == 32 else { return nil }
        var bytes: [UInt8] = []
        var rest = text[...]
        while !rest.isEmpty {
            let digits = rest.prefix(2)
            guard digits.allSatisfy(\.isHexDigit), let byte = UInt8(digits, radix: 16) else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes.count == 16 && bytes.contains { $0 != 0 } ? bytes : nil
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
