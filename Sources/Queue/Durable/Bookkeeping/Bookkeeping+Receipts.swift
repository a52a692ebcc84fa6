internal import GRDB

internal import struct Foundation.Data

/// The results of samples that a backend has sent before their turn, until its cursor has passed them.
extension Bookkeeping {
    /// A result: a refusal, or nil for a sample that the service has accepted.
    struct ReceiptRow: Hashable, Sendable {
        var sequence: UInt64
        var refusal: String?
    }

    static func createReceipts(in database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE receipt (name TEXT NOT NULL, sequence INTEGER NOT NULL, refusal TEXT,
                    PRIMARY KEY (name, sequence)) WITHOUT ROWID;
                """
        )
    }

    /// Saves receipts, all or none.
    func save(_ receipts: [ReceiptRow], of name: String) throws {
        try write { database in
            for receipt in receipts {
                try database.execute(
                    sql: "INSERT OR REPLACE INTO receipt (name, sequence, refusal) VALUES (?, ?, ?)",
                    arguments: [name, Int64(bitPattern: receipt.sequence), receipt.refusal.map(Self.reason)]
                )
            }
        }
    }

    /// A backend's receipts in their order.
    func receipts(of name: String) throws -> [ReceiptRow] {
        try read { database in
            let sql = "SELECT sequence, refusal FROM receipt WHERE name = ? ORDER BY sequence"
            return try Row.fetchAll(database, sql: sql, arguments: [name]).map { row in
                ReceiptRow(
                    sequence: UInt64(bitPattern: try row.decode(Int64.self, forColumn: "sequence")),
                    refusal: try row.decode(Data?.self, forColumn: "refusal").map {
                        String(decoding: $0, as: UTF8.self)
                    }
                )
            }
        }
    }

    static func deleteReceipts(of name: String, below cursor: UInt64, from database: Database) throws {
        try database.execute(
            sql: "DELETE FROM receipt WHERE name = ? AND sequence < ?",
            arguments: [name, Int64(bitPattern: cursor)]
        )
    }

    /// A refusal has words about a sample: it is erased with the sample.
    static func deleteReceipts(in erased: SequenceSet, from database: Database) throws {
        for range in erased.ranges {
            try database.execute(
                sql: "DELETE FROM receipt WHERE sequence >= ? AND sequence < ?",
                arguments: [Int64(bitPattern: range.lowerBound), Int64(bitPattern: range.upperBound)]
            )
        }
    }
}
