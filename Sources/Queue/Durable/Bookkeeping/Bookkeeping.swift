internal import CDurableShim
internal import GRDB
internal import Instrument
internal import Synchronization

internal import struct Foundation.Data

/// The small data that must be consistent at every instant, in SQLite: each backend's cursor, sums and dead letters.
///
/// Safe from any thread. Waits for the disk; never used on the path of `emit`.
final class Bookkeeping: Sendable {
    /// A backend's place, as it is saved.
    struct PlaceRow: Hashable, Sendable {
        var name: String
        /// The sequence numbers of the backend's first sample and of its first unsettled sample.
        var start: UInt64
        var cursor: UInt64
        var acknowledged: Int
        var dead: Int
        var drops: [DropReason: Int]
        /// Samples that this place counts and that were in the log of an ended process.
        var carried = 0
        /// The end of the leased batch; greater than the cursor only while a batch is leased.
        var leaseEnd: UInt64 = 0
        /// Whether the place ends with the process and is never saved.
        var isEphemeral = false

        /// The CRC-32C of all fields.
        var checksum: Int64 {
            let numbers = [Int64(bitPattern: start), Int64(bitPattern: cursor), Int64(acknowledged), Int64(dead)]
            let more = [Int64(carried), Int64(bitPattern: leaseEnd)]
            let reasons = drops.filter { $0.value != 0 }.sorted { $0.key.rawValue < $1.key.rawValue }
            let text = "\(name) \(numbers) \(more) \(reasons.map { "\($0.key.rawValue) \($0.value)" })"
            return Array(text.utf8).withUnsafeBytes { Int64(durable_crc32c(0, $0.baseAddress, $0.count)) }
        }
    }

    /// A sample that a backend will never accept.
    struct LetterRow: Hashable, Sendable {
        var sequence: UInt64
        var reason: String
        var payload: [UInt8]
        /// Whether the letter waits for a retry.
        var isRetried = false
    }

    /// The database. Replaced after the file was deleted and created again.
    var database: DatabaseQueue { current.withLock { $0 } }
    let current: Lock<DatabaseQueue>
    /// Whether every write survives a loss of power at once.
    let isSynchronous: Bool
    /// Whether there were writes since the last synchronization.
    private let isDirty = Atomic<Bool>(true)
    private let closed = Atomic<Bool>(false)

    /// Uses a database that was verified.
    init(_ database: DatabaseQueue, isSynchronous: Bool = false) {
        current = Lock(database)
        self.isSynchronous = isSynchronous
    }

    /// Opens or creates the file, and migrates it to the current version.
    ///
    /// - Parameter isSynchronous: whether every write survives a loss of power at once.
    convenience init(path: String, isSynchronous: Bool = false) throws {
        let configuration = Self.configuration(isSynchronous: isSynchronous)
        self.init(try DatabaseQueue(path: path, configuration: configuration), isSynchronous: isSynchronous)
        let isCurrent = try read { try Self.migrator.hasCompletedMigrations($0) }
        if !isCurrent {
            try Self.migrator.migrate(database)
            // The journal of a new file is many times larger than the file.
            try checkpoint(.truncate)
        }
        // A damaged page is found here, not during a delivery.
        let verdict = try read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
        if verdict != "ok" { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        // So is a page with invalid values.
        for place in try places() { _ = (try letters(of: place.name), try receipts(of: place.name)) }
        _ = try erased(onlyUndone: false)
        _ = try absent()
        _ = try newest(in: "")
        _ = (try carriedLogs(), try carriedSums())
        _ = try read { try Self.logNumber($0) }
        _ = (try refusedCount(), try isEndOpen())
        // After a momentary error, SQLite opens a file only for reading: every later write of the process would fail.
        try write { try $0.execute(sql: "UPDATE log SET random = random") }
    }

    /// Opens the file, and retries at once a failure that may be momentary.
    static func opened(path: String, isSynchronous: Bool) throws -> Bookkeeping {
        for _ in 1..<SystemCall.attempts {
            do { return try Bookkeeping(path: path, isSynchronous: isSynchronous) } catch {
                if isDamage(error) { throw error }
                if hasUnknownFormat(path) { throw DatabaseError(resultCode: .SQLITE_NOTADB) }
            }
        }
        return try Bookkeeping(path: path, isSynchronous: isSynchronous)
    }

    static func configuration(isSynchronous: Bool) -> Configuration {
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase {
            // SQLite overwrites erased dead letters.
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
            // Erasures; `done` once the samples are deleted from the segments.
            try database.execute(
                sql: "CREATE TABLE erased (first INTEGER NOT NULL, end INTEGER NOT NULL, done INTEGER NOT NULL)"
            )
        }
        migrator.registerMigration("3") { database in
            try database.execute(sql: "ALTER TABLE place ADD COLUMN leaseEnd INTEGER NOT NULL DEFAULT 0")
        }
        migrator.registerMigration("4") { database in
            // Ages of segments. Instants belong to one boot of the machine.
            try database.execute(
                sql: "CREATE TABLE age (first INTEGER PRIMARY KEY, boot TEXT NOT NULL, newest INTEGER NOT NULL)"
            )
        }
        migrator.registerMigration("5") { database in
            // SQLite detects a damaged page, but not a changed number.
            try database.execute(sql: "ALTER TABLE place ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0")
            for place in try rows(database, areChecked: false) { try write(place, to: database) }
        }
        migrator.registerMigration("6") { database in
            // Sequence numbers without a sample in this log.
            try database.execute(sql: "CREATE TABLE absent (first INTEGER NOT NULL, end INTEGER NOT NULL)")
        }
        migrator.registerMigration("refused") { database in
            // The refused samples that the places have counted, as the staging area counts them.
            try database.execute(sql: "ALTER TABLE log ADD COLUMN refused INTEGER NOT NULL DEFAULT 0")
        }
        migrator.registerMigration("carried") { try createCarried(in: $0) }
        migrator.registerMigration("openEnd") { database in
            try database.execute(sql: "ALTER TABLE log ADD COLUMN openEnd INTEGER NOT NULL DEFAULT 0")
        }
        migrator.registerMigration("receipts") { try createReceipts(in: $0) }
        return migrator
    }

    /// The log's random number. Saves and returns `fallback` if the log has no number yet.
    func logNumber(orElse fallback: UInt64) throws -> UInt64 {
        try write { database in
            if let known = try Self.logNumber(database) { return known }
            try database.execute(
                sql: "INSERT INTO log (random) VALUES (?)",
                arguments: [Int64(bitPattern: fallback)]
            )
            return fallback
        }
    }

    /// The number of refused samples that the places have counted.
    func refusedCount() throws -> Int {
        try read { database in
            let row = try Row.fetchOne(database, sql: "SELECT refused FROM log")
            return try row?.decode(Int.self, forColumn: "refused") ?? 0
        }
    }

    /// Whether the file with the log's end has moved to another folder, and the recovery behind it is not complete.
    func isEndOpen() throws -> Bool {
        try read { try Bool.fetchOne($0, sql: "SELECT openEnd FROM log") ?? false }
    }

    /// Saves whether the end is open. Once this method returns, the change survives a loss of power.
    func setEndOpen(_ isOpen: Bool) throws {
        try write { try $0.execute(sql: "UPDATE log SET openEnd = ?", arguments: [isOpen]) }
        try synchronize()
    }

    /// All places, without order.
    func places() throws -> [PlaceRow] {
        try read { try Self.rows($0, areChecked: true) }
    }

    private static func rows(_ database: Database, areChecked: Bool) throws -> [PlaceRow] {
        try Row.fetchAll(database, sql: "SELECT * FROM place").map { row in
            // `row["…"]` would trap on a value of another type.
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

    /// Deletes forgotten backends, and saves places, their new and removed letters, and new gaps, all or none.
    func save(_ changes: FolderChanges) throws {
        isDirty.store(true, ordering: .sequentiallyConsistent)
        try write { database in
            for name in changes.forgotten { try Self.delete(name, from: database) }
            for change in changes.places { try Self.write(change, to: database) }
            try Self.write(absent: changes.absent, to: database)
            try Self.write(erased: changes.erased, to: database)
            try Self.deleteReceipts(in: changes.erased, from: database)
            try database.execute(sql: "UPDATE log SET refused = ?", arguments: [changes.refusedCount])
        }
    }

    private static func write(_ change: FolderChanges.PlaceChange, to database: Database) throws {
        let place = change.row
        if place.isEphemeral { return }
        try write(place, to: database)
        try deleteReceipts(of: place.name, below: place.cursor, from: database)
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

    /// SQLite ends a text at the first NUL: a reason with a NUL is saved as bytes.
    static func reason(_ text: String) -> DatabaseValue {
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
        // A start may have counted samples as lost that it finds afterwards.
        try database.execute(sql: "DELETE FROM dropped WHERE name = ?", arguments: [place.name])
        for (reason, count) in place.drops {
            try database.execute(
                sql: "INSERT INTO dropped (name, reason, count) VALUES (?, ?, ?)",
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

    /// Deletes a backend with all its data.
    private static func delete(_ name: String, from database: Database) throws {
        for table in ["place", "dropped", "letter", "carried", "receipt"] {
            try database.execute(sql: "DELETE FROM \(table) WHERE name = ?", arguments: [name])
        }
    }

    /// A backend's dead letters, the oldest first.
    func letters(of name: String) throws -> [LetterRow] {
        try read { database in
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

    /// Whether a loss of power may revert a write.
    var hasUnsynchronizedWrites: Bool { isDirty.load(ordering: .sequentiallyConsistent) }

    /// Makes all writes survive a loss of power, in the main file, not only in the journal.
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
            try Self.requireConnection(database)
            _ = try database.checkpoint(kind)
        }
    }

    /// Reads from the database.
    /// - Throws: if the database is closed.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value { try Self.read(database, body) }

    static func read<Value>(_ database: DatabaseQueue, _ body: (Database) throws -> Value) throws -> Value {
        try database.unsafeRead { database in
            try requireConnection(database)
            return try body(database)
        }
    }

    /// Changes the database in a transaction.
    /// - Throws: if the database is closed.
    func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try database.writeWithoutTransaction { database in
            try Self.requireConnection(database)
            var result: Result<Value, any Error> = .failure(DatabaseError(resultCode: .SQLITE_ABORT))
            try database.inTransaction {
                result = .success(try body(database))
                return .commit
            }
            return try result.get()
        }
    }

    /// SQLite would dereference a closed connection.
    private static func requireConnection(_ database: Database) throws {
        if database.sqliteConnection != nil { return }
        throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the bookkeeping is closed")
    }

    /// Whether the database is closed.
    var isClosed: Bool { closed.load(ordering: .sequentiallyConsistent) }

    /// Whether an error means that the file is damaged or not a database of the store, rather than busy or temporarily
    /// not accessible.
    static func isDamage(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return error is RowDecodingError }
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_MISMATCH, .SQLITE_FORMAT: return true
        default: return false
        }
    }

    /// Moves all content into the main file, so that it can be moved or deleted.
    func close() {
        closed.store(true, ordering: .sequentiallyConsistent)
        // Current users of the database keep it open; the last one closes it.
        try? database.close()
    }
}

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

extension DatabaseValue {
    fileprivate init(_ bytes: [UInt8]) { self = Data(bytes).databaseValue }
}
