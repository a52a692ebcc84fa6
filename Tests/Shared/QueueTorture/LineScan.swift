import Foundation

/// The fields of a sample in a line of a delivered file, found by name, because parsing the whole line takes much
/// longer.
package struct LineScan {
    package let id: String
    package let line: EmittingLine
    package let number: Int

    /// nil if the line is incomplete.
    package init?(_ bytes: [UInt8]) {
        // Texts of C end with a zero.
        let found = (bytes + [0]).withUnsafeBytes { bytes -> (String, Int, Int, Int)? in
            guard let text = bytes.bindMemory(to: CChar.self).baseAddress, bytes.count > 44,
                bytes[bytes.count - 2] == UInt8(ascii: "}"), strncmp(text, "{\"id\":\"", 7) == 0,
                let run = Self.number("\"run\":", in: text), let thread = Self.number("\"thread\":", in: text),
                let number = Self.number("\"number\":", in: text)
            else { return nil }
            return (String(decoding: bytes[7..<43], as: UTF8.self), run, thread, number)
        }
        guard let found else { return nil }
        (id, line, number) = (found.0, EmittingLine(run: found.1, thread: found.2), found.3)
    }

    private static func number(_ name: String, in text: UnsafePointer<CChar>) -> Int? {
        guard let found = strstr(text, name) else { return nil }
        let digits = found + name.utf8.count
        var end: UnsafeMutablePointer<CChar>?
        let number = strtol(digits, &end, 10)
        return end == digits ? nil : number
    }
}
