internal import Instrument
internal import InstrumentText

extension WallTime {
    /// Reads what ``rfc3339`` writes; nil for any other text.
    init?(rfc3339 text: String) {
        var cursor = TextCursor(text)
        guard let date = cursor.date(), cursor.take("T"), let hour = cursor.number(digits: 2), cursor.take(":"),
            let minute = cursor.number(digits: 2), cursor.take(":"), let second = cursor.number(digits: 2),
            cursor.take("."), let fraction = cursor.fraction(places: 3), cursor.take("Z")
        else { return nil }
        self.init(date, milliseconds: Int64(((hour * 60 + minute) * 60 + second) * 1_000 + fraction))
    }
}
