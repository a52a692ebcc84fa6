internal import GRDB
package import Instrument

extension LinkedLibrary {
    /// SQLite. Opens a database in memory, because SQLite itself is hidden behind GRDB.
    package static var sqlite: LinkedLibrary {
        let version = try? DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT sqlite_version()") }
        return LinkedLibrary("SQLite", version ?? "unknown")
    }
}
