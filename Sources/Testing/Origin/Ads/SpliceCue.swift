internal import Instrument
internal import InstrumentText

/// The begin and the end of an ad break of four seconds as splice information (SCTE 35): splice inserts of the event 1.
enum SpliceCue: String, Sendable {
    case begin = "/DAgAAAAAAAA///wDwUAAAABf//+AAV+QAABAAAAAIZ98X0="
    case end = "/DAbAAAAAAAA///wCgUAAAABf18AAQAAAADjy9OG"

    /// The duration of the break.
    static var seconds: Int { 4 }
    /// The segments of two seconds that carry the cues, in segments and event messages.
    private static let (first, last) = (2, 4)

    /// The cue that a segment carries.
    init?(segment number: Int) {
        switch number {
        case Self.first: self = .begin
        case Self.last: self = .end
        default: return nil
        }
    }

    /// The section in base64.
    var base64: String { rawValue }
    /// The section.
    var bytes: [UInt8] { Base64.decode(rawValue) ?? [] }
    /// The section in hexadecimal after `0x`.
    var hexadecimal: String { "0x" + bytes.hexadecimal() }
}
