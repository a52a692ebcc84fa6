internal import Instrument
internal import InstrumentText

extension WallTime {
    /// `Sun, 06 Nov 1994 08:49:37 GMT`: the date of HTTP headers.
    var httpDate: String { internetDate(zone: "GMT") }
}
