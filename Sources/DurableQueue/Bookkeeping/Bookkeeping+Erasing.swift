internal import GRDB
internal import Instrument

extension Bookkeeping {
    /// Dead letters that are erased.
    struct ErasedLetters {
        var name: String
        var sequences: [UInt64]
    }

    /// What was erased from the log, or what of it is not gone from the segments yet.
    func erased(onlyUndone: Bool) throws -> SequenceSet {
        let filter = onlyUndone ? "WHERE done = 0" : ""
        return try database.read { try Self.numbers($0, sql: "SELECT first, end FROM erased \(filter)") }
    }

    private static func numbers(_ database: Database, sql: String) throws -> SequenceSet {
        var ranges: [Range<UInt64>] = []
        for row in try Row.fetchAll(database, sql: sql) {
            let first = UInt64(bitPattern: try row.decode(Int64.self, forColumn: "first"))
            let end = UInt64(bitPattern: try row.decode(Int64.self, forColumn: "end"))
            guard first < end, end - first < Int64.max else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
            ranges.append(first..<end)
        }
        var numbers = SequenceSet()
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) { numbers.append(range) }
        return numbers
    }

    /// Keeps what is to be erased, and the sums without it, all or nothing; the dead letters are gone with it.
    func save(_ places: [PlaceRow], erasing erased: SequenceSet, _ letters: [ErasedLetters]) throws {
        try database.write { database in
            for place in places { try Self.write(place, to: database) }
            for letters in letters { try Self.deleteLetters(letters.sequences, of: letters.name, from: database) }
            for range in erased.ranges {
                try database.execute(
                    sql: "INSERT INTO erased (first, end, done) VALUES (?, ?, 0)",
                    arguments: [Int64(bitPattern: range.lowerBound), Int64(bitPattern: range.upperBound)]
                )
            }
        }
        // The journal still has the letters.
        try checkpoint(.truncate)
    }

    /// Numbers that no sample in this log has.
    func absent() throws -> SequenceSet {
        try database.read { try Self.numbers($0, sql: "SELECT first, end FROM absent") }
    }

    /// Keeps numbers that no sample in this log has.
    func save(absent numbers: Range<UInt64>) throws {
        try database.write { database in
            try database.execute(
                sql: "INSERT INTO absent (first, end) VALUES (?, ?)",
                arguments: [Int64(bitPattern: numbers.lowerBound), Int64(bitPattern: numbers.upperBound)]
            )
        }
        // A number must never be given twice, whatever happens now.
        try synchronize()
    }

    /// The segments no longer hold what was erased.
    func finishErasing() throws {
        try database.write { try $0.execute(sql: "UPDATE erased SET done = 1 WHERE done = 0") }
    }

    /// Forgets what was erased before a number below which nothing is kept.
    func forgetErased(below number: UInt64) throws {
        try database.write { database in
            // Numbers are stored as they are: they never reach 2^63.
            try database.execute(sql: "DELETE FROM erased WHERE end <= ?", arguments: [Int64(bitPattern: number)])
        }
    }
}
