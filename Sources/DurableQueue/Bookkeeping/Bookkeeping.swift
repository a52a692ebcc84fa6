internal import CDurableShim
internal import GRDB
internal import Instrument
internal import Synchronization

internal import struct Foundation.Data

/// What is small and has to be right at every moment, in SQLite: where each backend is, its sums, its dead letters.
///
/// Safe from any thread. Waits for the disk, so never on the path of `emit`.
final class Bookkeeping: Sendable {
    /// A backend's place, as it is kept.
    struct PlaceRow: Hashable, Sendable {
        var name: String
        /// The number of the first sample that is for it, and of the first that it has not settled.
        var start: UInt64
        var cursor: UInt64
        var acknowledged: Int
        var dead: Int
        var drops: [DropReason: Int]
        /// Samples that count here and were in the log of a process that is gone.
        var carried = 0
        /// Behind the last sample of the batch that was given and not settled; past the cursor only while there is one.
        var leaseEnd: UInt64 = 0
        /// Whether the place ends with the process: it is never written down.
        var isEphemeral = false

        /// CRC-32C of all of it.
        var checksum: Int64 {
            let numbers = [Int64(bitPattern: start), Int64(bitPattern: cursor), Int64(acknowledged), Int64(dead)]
            let more = [Int64(carried), Int64(bitPattern: leaseEnd)]
            let reasons = drops.filter { $0.value != 0 }.sorted { $0.key.rawValue < $1.key.rawValue }
            let text = "\(name) \(numbers) \(more) \(reasons.map { "\($0.key.rawValue) \($0.value)" })"
            return Array(text.utf8).withUnsafeBytes { Int64(durable_crc32c(0, $0.baseAddress, $0.count)) }
        }
    }

    /// A sample that a backend will never take.
    struct LetterRow: Hashable, Sendable {
        var sequence: UInt64
        var reason: String
        var payload: [UInt8]
        /// Whether it waits to be tried again.
        var isRetried = false
    }

    /// The database; another one once the file was deleted and made again.
    var database: DatabaseQueue { current.withLock { $0 } }
    let current: Lock<DatabaseQueue>
    /// Whether everything that is written survives a loss of power at once.
    let isSynchronous: Bool
    /// Whether something was written since the last synchronization.
    private let isDirty = Atomic<Bool>(true)
    private let closed = Atomic<Bool>(false)

    /// Uses a database that is known to be whole.
    init(_ database: DatabaseQueue, isSynchronous: Bool = false) {
        current = Lock(database)
        self.isSynchronous = isSynchronous
    }

    /// Opens or creates the file, and brings it to the current version.
    ///
    /// - Parameter isSynchronous: whether everything that is written survives a loss of power at once.
    convenience init(path: String, isSynchronous: Bool = false) throws {
        let configuration = Self.configuration(isSynchronous: isSynchronous)
        self.init(try DatabaseQueue(path: path, configuration: configuration), isSynchronous: isSynchronous)
        let isCurrent = try database.read { try Self.migrator.hasCompletedMigrations($0) }
        if !isCurrent {
            try Self.migrator.migrate(database)
            // The journal of a new file is many times as large as the file.
            try checkpoint(.truncate)
        }
        // A page that is damaged is found here, and not in the middle of a delivery.
        let verdict = try database.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
        if verdict != "ok" { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        // And so is one that holds something else than it should.
        for place in try places() { _ = try letters(of: place.name) }
        _ = try erased(onlyUndone: false)
        _ = try absent()
        _ = try newest(in: "")
        _ = (try carriedLogs(), try carriedSums())
        _ = try database.read { try Self.logNumber($0) }
    }

    static func configuration(isSynchronous: Bool) -> Configuration {
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase {
            // Dead letters that are erased are overwritten.
            try $0.execute(
                sql: "PRAGMA synchronous = \(isSynchronous ? "FULL" : "NORMAL"); PRAGMA secure_delete = ON"
            )
        }
        return configuration
    }

    private static func logNumber(_ database: Database) throws -> UInt64? {
        guard let row = try Row.fetchOne(database, sql: "SELECT random FROM log") else { return nil }
        return UInt64(bitPattern: try row.decode(Int64.self, forColumn: "random"))
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            try database.execute(
                sql: """
                    CREATE TABLE log (random INTEGER NOT NULL);
                    CREATE TABLE place (name TEXT PRIMARY KEY, start INTEGER NOT NULL, cursor INTEGER NOT NULL,
                        acknowledged INTEGER NOT NULL, dead INTEGER NOT NULL, carried INTEGER NOT NULL) WITHOUT ROWID;
                    CREATE TABLE dropped (name TEXT NOT NULL, reason TEXT NOT NULL, count INTEGER NOT NULL,
                        PRIMARY KEY (name, reason)) WITHOUT ROWID;
                    CREATE TABLE letter (name TEXT NOT NULL, sequence INTEGER NOT NULL, reason TEXT NOT NULL,
                        payload BLOB NOT NULL, retried INTEGER NOT NULL, PRIMARY KEY (name, sequence)) WITHOUT ROWID;
                    """
            )
        }
        migrator.registerMigration("2") { database in
            // What was erased; `done` once it is gone from the segments, too.
            try database.execute(
                sql: "CREATE TABLE erased (first INTEGER NOT NULL, end INTEGER NOT NULL, done INTEGER NOT NULL)"
            )
        }
        migrator.registerMigration("3") { database in
            try database.execute(sql: "ALTER TABLE place ADD COLUMN leaseEnd INTEGER NOT NULL DEFAULT 0")
        }
        migrator.registerMigration("4") { database in
            // How old segments are. Instants are of one boot of the machine.
            try database.execute(
                sql: "CREATE TABLE age (first INTEGER PRIMARY KEY, boot TEXT NOT NULL, newest INTEGER NOT NULL)"
            )
        }
        migrator.registerMigration("5") { database in
            // SQLite notices a damaged page, but not a number that became another.
            try database.execute(sql: "ALTER TABLE place ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0")
            for place in try rows(database, areChecked: false) { try write(place, to: database) }
        }
        migrator.registerMigration("6") { database in
            // Numbers that no sample in this log has.
            try database.execute(sql: "CREATE TABLE absent (first INTEGER NOT NULL, end INTEGER NOT NULL)")
        }
        migrator.registerMigration("carried") { try createCarried(in: $0) }
        return migrator
    }

    /// The log's random number; `fallback` from now on if the log has no number yet.
    func logNumber(orElse fallback: UInt64) throws -> UInt64 {
        try database.write { database in
            if let known = try Self.logNumber(database) { return known }
            try database.execute(
                sql: "INSERT INTO log (random) VALUES (?)",
                arguments: [Int64(bitPattern: fallback)]
            )
            return fallback
        }
    }

    /// All places, in no order.
    func places() throws -> [PlaceRow] {
        try database.read { try Self.rows($0, areChecked: true) }
    }

    private static func rows(_ database: Database, areChecked: Bool) throws -> [PlaceRow] {
        try Row.fetchAll(database, sql: "SELECT * FROM place").map { row in
            // `row["…"]` would trap where the file holds something else than it should.
            let name = try row.decode(String.self, forColumn: "name")
            let place = PlaceRow(
                name: name,
                start: UInt64(bitPattern: try row.decode(Int64.self, forColumn: "start")),
                cursor: UInt64(bitPattern: try row.decode(Int64.self, forColumn: "cursor")),
                acknowledged: try row.decode(Int.self, forColumn: "acknowledged"),
                dead: try row.decode(Int.self, forColumn: "dead"),
                drops: try drops(of: name, database),
                carried: try row.decode(Int.self, forColumn: "carried"),
                leaseEnd: UInt64(bitPattern: try row.decode(Int64.self, forColumn: "leaseEnd"))
            )
            if areChecked, try row.decode(Int64.self, forColumn: "checksum") != place.checksum {
                throw DatabaseError(
                    resultCode: .SQLITE_CORRUPT,
                    message: "the stored checksum of a place does not match its content"
                )
            }
            return place
        }
    }

    private static func drops(of name: String, _ database: Database) throws -> [DropReason: Int] {
        let sql = "SELECT reason, count FROM dropped WHERE name = ?"
        var drops: [DropReason: Int] = [:]
        for row in try Row.fetchAll(database, sql: sql, arguments: [name]) {
            let reason = DropReason(rawValue: try row.decode(String.self, forColumn: "reason"))
            if let reason { drops[reason] = try row.decode(Int.self, forColumn: "count") }
        }
        return drops
    }

    /// Keeps places, and the letters that came and went with them, all or nothing.
    func save(_ changes: [DirectoryStore.Change]) throws {
        isDirty.store(true, ordering: .sequentiallyConsistent)
        try database.write { database in
            for change in changes { try Self.write(change, to: database) }
        }
    }

    private static func write(_ change: DirectoryStore.Change, to database: Database) throws {
        let place = change.row
        if place.isEphemeral { return }
        try write(place, to: database)
        try deleteLetters(change.removedLetters, of: place.name, from: database)
        for letter in change.addedLetters {
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO letter (name, sequence, reason, payload, retried) VALUES (?, ?, ?, ?, ?)
                    """,
                arguments: [
                    place.name, Int64(bitPattern: letter.sequence), reason(letter.reason),
                    DatabaseValue(letter.payload),
                    letter.isRetried,
                ]
            )
        }
    }

    /// SQLite ends a text at the first NUL: a reason that has one is kept as bytes.
    private static func reason(_ text: String) -> DatabaseValue {
        text.utf8.contains(0) ? DatabaseValue(Array(text.utf8)) : text.databaseValue
    }

    static func write(_ place: PlaceRow, to database: Database) throws {
        if place.isEphemeral { return }
        try database.execute(
            sql: """
                INSERT OR REPLACE INTO place (name, start, cursor, acknowledged, dead, carried, leaseEnd, checksum)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                place.name, Int64(bitPattern: place.start), Int64(bitPattern: place.cursor), place.acknowledged,
                place.dead, place.carried, Int64(bitPattern: place.leaseEnd), place.checksum,
            ]
        )
        for (reason, count) in place.drops {
            try database.execute(
                sql: "INSERT OR REPLACE INTO dropped (name, reason, count) VALUES (?, ?, ?)",
                arguments: [place.name, reason.rawValue, count]
            )
        }
    }

    static func deleteLetters(_ sequences: [UInt64], of name: String, from database: Database) throws {
        for sequence in sequences {
            try database.execute(
                sql: "DELETE FROM letter WHERE name = ? AND sequence = ?",
                arguments: [name, Int64(bitPattern: sequence)]
            )
        }
    }

    /// Forgets a backend and all that is kept for it.
    func remove(_ name: String) throws {
        try database.write { database in
            for table in ["place", "dropped", "letter", "carried"] {
                try database.execute(sql: "DELETE FROM \(table) WHERE name = ?", arguments: [name])
            }
        }
    }

    /// A backend's dead letters, the oldest first.
    func letters(of name: String) throws -> [LetterRow] {
        try database.read { database in
            let sql = "SELECT sequence, reason, payload, retried FROM letter WHERE name = ? ORDER BY sequence"
            return try Row.fetchAll(database, sql: sql, arguments: [name]).map { row in
                LetterRow(
                    sequence: UInt64(bitPattern: try row.decode(Int64.self, forColumn: "sequence")),
                    reason: String(decoding: try row.decode(Data.self, forColumn: "reason"), as: UTF8.self),
                    payload: Array(try row.decode(Data.self, forColumn: "payload")),
                    isRetried: try row.decode(Bool.self, forColumn: "retried")
                )
            }
        }
    }

    /// Whether something was written that a loss of power may take back.
    var hasUnsynchronizedWrites: Bool { isDirty.load(ordering: .sequentiallyConsistent) }

    /// Makes everything that was written survive a loss of power, and stand in the main file, not in the journal alone.
    func synchronize() throws {
        isDirty.store(false, ordering: .sequentiallyConsistent)
        do { try checkpoint(.passive) } catch {
            isDirty.store(true, ordering: .sequentiallyConsistent)
            throw error
        }
    }

    /// Copies the journal into the main file.
    func checkpoint(_ kind: Database.CheckpointMode) throws {
        try database.writeWithoutTransaction { database in
            // SQLite would dereference the connection that is gone.
            guard database.sqliteConnection != nil else {
                throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the bookkeeping is closed")
            }
            _ = try database.checkpoint(kind)
        }
    }

    /// Whether nothing can be read or written any more.
    var isClosed: Bool { closed.load(ordering: .sequentiallyConsistent) }

    /// Whether an error says that the file is damaged, or is none of ours: not that it is busy, or cannot be opened now.
    static func isDamage(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return error is RowDecodingError }
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_MISMATCH, .SQLITE_FORMAT: return true
        default: return false
        }
    }

    /// Brings everything into the one file, so that it can be moved or deleted.
    func close() {
        closed.store(true, ordering: .sequentiallyConsistent)
        // Whoever uses the database at this moment keeps it open; the last one to let go of it closes it.
        try? database.close()
    }
}

extension DatabaseValue {
    fileprivate init(_ bytes: [UInt8]) { self = Data(bytes).databaseValue }
}
