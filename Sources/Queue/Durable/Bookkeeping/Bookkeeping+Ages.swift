internal import GRDB
internal import Instrument

extension Bookkeeping {
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
