internal import GRDB
internal import Instrument

/// The erasures, gaps and ages of the samples in segments.
extension Bookkeeping {
    /// Erasures from the log: all of them, or those whose samples are still in the segments.
    func erased(onlyUndone: Bool) throws -> SequenceSet {
        let filter = onlyUndone ? "WHERE done = 0" : ""
        return try read { try Self.numbers($0, sql: "SELECT first, end FROM erased \(filter)") }
    }

    private static func numbers(_ database: Database, sql: String) throws -> SequenceSet {
        var ranges: [Range<UInt64>] = []
        for row in try Row.fetchAll(database, sql: sql) {
            let first = UInt64(bitPattern: try row.decode(Int64.self, forColumn: "first"))
            let end = UInt64(bitPattern: try row.decode(Int64.self, forColumn: "end"))
            guard first < end, end <= FolderNames.maxNumber else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
            ranges.append(first..<end)
        }
        var numbers = SequenceSet()
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) { numbers.append(range) }
        return numbers
    }

    /// Saves changes that include an erasure, all or none.
    func saveErasure(_ changes: FolderChanges) throws {
        try save(changes)
        // The journal still contains erased letters.
        try checkpoint(.truncate)
    }

    /// Sequence numbers without a sample in this log.
    func absent() throws -> SequenceSet {
        try read { try Self.numbers($0, sql: "SELECT first, end FROM absent") }
    }

    static func write(absent: SequenceSet, to database: Database) throws {
        try insert(absent, by: "INSERT INTO absent (first, end) VALUES (?, ?)", to: database)
    }

    static func write(erased: SequenceSet, to database: Database) throws {
        try insert(erased, by: "INSERT INTO erased (first, end, done) VALUES (?, ?, 0)", to: database)
    }

    private static func insert(_ numbers: SequenceSet, by sql: String, to database: Database) throws {
        for range in numbers.ranges {
            let ends = [Int64(bitPattern: range.lowerBound), Int64(bitPattern: range.upperBound)]
            try database.execute(sql: sql, arguments: StatementArguments(ends))
        }
    }

    /// Records that the segments no longer contain the erased samples.
    func finishErasing() throws {
        try write { try $0.execute(sql: "UPDATE erased SET done = 1 WHERE done = 0") }
    }

    /// Deletes erasures below the first stored sequence number.
    func forgetErased(below number: UInt64) throws {
        try write { database in
            // Sequence numbers are stored unchanged: they never reach 2^63.
            try database.execute(sql: "DELETE FROM erased WHERE end <= ?", arguments: [Int64(bitPattern: number)])
        }
    }

    /// The instants of the newest samples of segments that were written in this boot, by the sequence numbers of the
    /// segments' first samples.
    func newest(in boot: String) throws -> [UInt64: MonotonicInstant] {
        try read { database in
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT first, newest FROM age WHERE boot = ?",
                arguments: [boot]
            )
            var newest: [UInt64: MonotonicInstant] = [:]
            for row in rows {
                let first = UInt64(bitPattern: try row.decode(Int64.self, forColumn: "first"))
                newest[first] = MonotonicInstant(nanoseconds: try row.decode(Int64.self, forColumn: "newest"))
            }
            return newest
        }
    }

    /// Saves the ages of all existing segments.
    func save(newest: [(first: UInt64, instant: MonotonicInstant)], boot: String) throws {
        try write { database in
            try database.execute(sql: "DELETE FROM age")
            for (first, instant) in newest {
                try database.execute(
                    sql: "INSERT INTO age (first, boot, newest) VALUES (?, ?, ?)",
                    arguments: [Int64(bitPattern: first), boot, instant.nanoseconds]
                )
            }
        }
    }
}
