internal import GRDB
internal import Instrument

/// The sums of deleted logs, which this log's ledgers include.
///
/// The sums have the deleted log's number as their key and are saved before its folder is deleted. After a crash in
/// between, both exist: the key shows the next start that the sums in the folder no longer count.
extension Bookkeeping {
    /// The settled samples of a backend, by outcome.
    struct CarriedSum: Hashable, Sendable {
        var name: String
        var acknowledged = 0
        var drops: [DropReason: Int] = [:]
    }

    /// The key for all logs whose folders are deleted.
    private static var deletedLogs: Int64 { 0 }
    private static var acknowledgedKind: String { "acknowledged" }

    static func createCarried(in database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE carried (log INTEGER NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,
                    count INTEGER NOT NULL, PRIMARY KEY (log, name, kind)) WITHOUT ROWID;
                """
        )
    }

    /// Saves the sums of a log, all or none. Does nothing if the sums are saved.
    func carry(_ sums: [CarriedSum], of log: UInt64) throws {
        try write { database in
            if try Self.isCarried(log, database) { return }
            for sum in sums {
                let counts = [(Self.acknowledgedKind, sum.acknowledged)] + sum.drops.map { ($0.key.rawValue, $0.value) }
                for (kind, count) in counts {
                    try database.execute(
                        sql: "INSERT INTO carried (log, name, kind, count) VALUES (?, ?, ?, ?)",
                        arguments: [Int64(bitPattern: log), sum.name, kind, count]
                    )
                }
            }
        }
    }

    /// Records that a log's folder is deleted, so that its number is no longer needed.
    func finishCarrying(_ log: UInt64) throws {
        try write { database in
            try database.execute(
                sql: """
                    INSERT INTO carried (log, name, kind, count)
                        SELECT ?, name, kind, count FROM carried WHERE log = ?
                        ON CONFLICT (log, name, kind) DO UPDATE SET count = count + excluded.count
                    """,
                arguments: [Self.deletedLogs, Int64(bitPattern: log)]
            )
            try database.execute(sql: "DELETE FROM carried WHERE log = ?", arguments: [Int64(bitPattern: log)])
        }
    }

    /// The logs whose sums are saved here and whose folders may still exist.
    func carriedLogs() throws -> Set<UInt64> {
        try read { database in
            let sql = "SELECT DISTINCT log FROM carried WHERE log <> ?"
            let rows = try Row.fetchAll(database, sql: sql, arguments: [Self.deletedLogs])
            return Set(try rows.map { UInt64(bitPattern: try $0.decode(Int64.self, forColumn: "log")) })
        }
    }

    /// The saved sums by backend.
    func carriedSums() throws -> [String: CarriedSum] {
        try read { database in
            var sums: [String: CarriedSum] = [:]
            for row in try Row.fetchAll(database, sql: "SELECT name, kind, count FROM carried") {
                let name = try row.decode(String.self, forColumn: "name")
                let (kind, count) = (
                    try row.decode(String.self, forColumn: "kind"), try row.decode(Int.self, forColumn: "count")
                )
                guard 0..<(1 << 48) ~= count else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
                if kind == Self.acknowledgedKind {
                    sums[name, default: CarriedSum(name: name)].acknowledged += count
                } else if let reason = DropReason(rawValue: kind) {
                    sums[name, default: CarriedSum(name: name)].drops[reason, default: 0] += count
                }
            }
            return sums
        }
    }

    private static func isCarried(_ log: UInt64, _ database: Database) throws -> Bool {
        let sql = "SELECT 1 FROM carried WHERE log = ? LIMIT 1"
        return try Row.fetchOne(database, sql: sql, arguments: [Int64(bitPattern: log)]) != nil
    }
}
