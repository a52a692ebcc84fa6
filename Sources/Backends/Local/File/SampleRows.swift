internal import Instrument
internal import InstrumentJSON

/// Reads rows that are JSON arrays, as ClickHouse exports them in the formats `JSONCompact`,
/// `JSONCompactEachRowWithNames` and `JSONCompactEachRowWithNamesAndTypes`.
struct SampleRows {
    /// The names of the columns; nil until they are known.
    private var columns: [String]?
    /// Whether the previous row had the names.
    private var mayHaveTypes = false

    /// Reads a row.
    ///
    /// - Parameter documentColumns: the names in the head of the document; empty without a head.
    /// - Returns: nil for a row with the names or the types of the columns.
    mutating func read(
        _ row: [UInt8],
        documentColumns: [String]
    ) throws(SampleLine.Failure) -> SampleRecord? {
        let json: JSONValue
        do { json = try JSONReader.read(row) } catch {
            throw SampleLine.Failure(description: "not valid JSON: \(error)")
        }
        guard case .array(let values) = json else { throw SampleLine.Failure(description: "a row must be an array") }
        if columns == nil, !documentColumns.isEmpty { columns = documentColumns }
        let texts = values.compactMap(\.string)
        guard let columns else {
            guard texts.count == values.count, texts.contains("id"), texts.contains("sequence") else {
                let remedy = "export with FORMAT JSONEachRow or JSONCompactEachRowWithNames"
                throw SampleLine.Failure(description: "the row has no names of columns; \(remedy)")
            }
            (self.columns, mayHaveTypes) = (texts, true)
            return nil
        }
        guard values.count == columns.count else {
            throw SampleLine.Failure(description: "a row must have \(columns.count) values (found \(values.count))")
        }
        let object = Dictionary(zip(columns, values)) { first, _ in first }
        defer { mayHaveTypes = false }
        if mayHaveTypes, texts.count == values.count, object["sequence"]?.string.flatMap({ UInt64($0) }) == nil {
            return nil
        }
        return try SampleLine.read(.object(object))
    }
}
