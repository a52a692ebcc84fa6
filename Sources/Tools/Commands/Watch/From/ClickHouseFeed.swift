internal import Instrument
internal import InstrumentHTTP
internal import InstrumentJSON
internal import InstrumentMonitor
internal import InstrumentMonitorRuntime
internal import InstrumentText

/// Where a table of ClickHouse is: `http://HOST:8123/?database=NAME&table=NAME`.
struct ClickHouseAddress: Hashable, Sendable {
    let origin: String
    let database: String
    let table: String

    /// Reads the text behind `clickhouse:`.
    /// - Throws: ``FeedOptionError`` for any other text.
    init(_ text: String) throws(FeedOptionError) {
        let url: HTTPURL
        do throws(HTTPError) { url = try HTTPURL(text) } catch {
            throw FeedOptionError("clickhouse needs the HTTP address of the server: \(error.message)")
        }
        guard url.userInfo == nil else {
            throw FeedOptionError("clickhouse takes no user in the address; use --credentials-from")
        }
        guard url.path == "/" || url.path.isEmpty else {
            throw FeedOptionError("clickhouse takes an address without a path (found '\(url.path)')")
        }
        origin = url.origin
        database = url.queryValue(named: "database") ?? "default"
        table = url.queryValue(named: "table") ?? "samples"
        for name in [database, table] where !Self.isName(name) {
            throw FeedOptionError("a database and a table must have letters, digits and '_' (found '\(name)')")
        }
    }

    private static func isName(_ text: String) -> Bool {
        (1...200).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
    }

    var name: String { "clickhouse:\(origin)/?database=\(database)&table=\(table)" }
}

/// The events of a table or view with the columns of `sql/clickhouse/fleet`, read again and again by the time of their
/// arrival.
///
/// Rows become visible some seconds after the time that they carry. Each round therefore begins ten seconds before the
/// newest row that is known; rows that were read before count as doubles no second time.
final class ClickHouseFeed: SampleFeed {
    /// How long a row may take to become visible, in seconds.
    private static let overlap = 10
    private static let pageSize = 5_000
    /// The pause between two rounds.
    private static let pause = Duration.seconds(2)
    private static let mostBytes = 256 << 20

    /// The place of a row in the order of the table.
    fileprivate struct Cursor: Hashable {
        var arrived: Int
        var sender: String
        var playback: String
        var sequence: String
        var id: String
    }

    private struct State {
        var intake = SampleIntake()
        /// The newest arrival of the rows that were read, in seconds since 1970; nil before the first answer.
        var newest: Int?
        /// Where a round that is not over begins, and where it continues.
        var round: (begin: Int, cursor: Cursor?)?
        /// Whether the next round waits first.
        var waits = false
        var kept: Int?
    }

    let name: String
    private let address: ClickHouseAddress
    private let transport: any HTTPTransport
    private let login: (name: String, secret: String)?
    private let clock: any SchedulingClock
    private let position: FeedPosition?
    private let state: Lock<State>

    init(
        _ address: ClickHouseAddress,
        transport: any HTTPTransport,
        login: (name: String, secret: String)?,
        since start: FeedStart,
        position: FeedPosition?,
        clock: any SchedulingClock = SystemClock()
    ) {
        (self.address, self.transport, self.login) = (address, transport, login)
        (self.clock, self.position, name) = (clock, position, address.name)
        var state = State()
        if let known = position?.read()?["arrived"]?.int, known >= 0 {
            state.newest = known
        } else if case .since(let time) = start {
            state.newest = Int(clamping: max(0, time.milliseconds / 1000)) + Self.overlap
        }
        self.state = Lock(state)
    }

    func next() async throws(SampleFeedError) -> SampleBatch {
        let waits = state.withLock { state in
            defer { state.waits = false }
            return state.waits
        }
        if waits {
            do { try await clock.sleep(until: clock.now.advanced(by: Self.pause), tolerance: nil) } catch {
                return SampleBatch()
            }
        }
        let round: (begin: Int, cursor: Cursor?)
        if let known = state.withLock({ $0.round }) {
            round = known
        } else if let newest = state.withLock({ $0.newest }) {
            round = (max(0, newest - Self.overlap), nil)
        } else {
            // Only what arrives from now on: by the server's clock.
            let answer = try await query("SELECT toUnixTimestamp(now()) AS now FORMAT JSONEachRow")
            guard let now = answer.first.flatMap({ try? JSONValue(parsing: $0) })?["now"].flatMap({ Self.integer($0) })
            else {
                throw SampleFeedError("the answer of ClickHouse has no time; check the address")
            }
            state.withLock { $0.newest = now + Self.overlap }
            round = (now, nil)
        }
        return try take(await query(rows(from: round.begin, behind: round.cursor)), of: round.begin)
    }

    func keepPosition() async {
        let newest = state.withLock { state -> Int? in
            // In the middle of a round, rows of the same second are missing.
            guard state.round == nil, state.kept != state.newest else { return nil }
            state.kept = state.newest
            return state.newest
        }
        if let newest { position?.write(["arrived": .int(newest)]) }
    }

    func close() async {}

    // MARK: Rows

    private func take(_ lines: [[UInt8]], of begin: Int) throws(SampleFeedError) -> SampleBatch {
        let isLast = lines.count < Self.pageSize
        var cursor: Cursor?
        if let line = lines.last {
            guard let json = try? JSONValue(parsing: line), let last = Cursor(json) else {
                throw SampleFeedError("the answer of ClickHouse ends in the middle; the query is repeated")
            }
            cursor = last
        }
        return state.withLock { state in
            if let cursor { state.newest = max(state.newest ?? 0, cursor.arrived) }
            state.round = isLast ? nil : (begin, cursor)
            state.waits = isLast
            var batch = state.intake.batch(of: lines, isCaughtUp: isLast)
            // The overlap of rounds is no news.
            batch.refused[.double] = nil
            return batch
        }
    }

    private func rows(from begin: Int, behind cursor: Cursor?) -> String {
        let columns = "id, sequence, type, action, tracker, time, instant, attributes"
        var condition = "arrived >= toDateTime(\(begin)) AND type = 'event' AND stream != ''"
        if let cursor {
            let texts = [cursor.sender, cursor.playback].map(Self.literal).joined(separator: ", ")
            condition +=
                " AND (arrived, sender, playback, sequence, id) > (toDateTime(\(cursor.arrived)), \(texts), "
                + "toUInt64(\(cursor.sequence)), toUUID(\(Self.literal(cursor.id))))"
        }
        return "SELECT \(columns), toUnixTimestamp(arrived) AS arrived_seconds, sender, playback FROM "
            + "\(address.database).\(address.table) WHERE \(condition) "
            + "ORDER BY arrived, sender, playback, sequence, id LIMIT \(Self.pageSize) "
            + "SETTINGS output_format_json_quote_64bit_integers = 1 FORMAT JSONEachRow"
    }

    /// A text in a query.
    static func literal(_ text: String) -> String {
        var literal = "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" || scalar == "\\" { literal += "\\" }
            literal.unicodeScalars.append(scalar)
        }
        return literal + "'"
    }

    private static func integer(_ json: JSONValue) -> Int? { json.int ?? json.string.flatMap { Int($0) } }

    // MARK: HTTP

    /// The lines of the answer.
    private func query(_ text: String) async throws(SampleFeedError) -> [[UInt8]] {
        let response: HTTPResponse
        do throws(HTTPError) {
            var headers = HTTPHeaders()
            if let login {
                try headers.set("X-ClickHouse-User", login.name, isSecret: true)
                try headers.set("X-ClickHouse-Key", login.secret, isSecret: true)
            }
            response = try await transport.send(
                HTTPRequest(
                    .post,
                    try HTTPURL(address.origin + "/"),
                    headers: headers,
                    body: Array(text.utf8),
                    timeout: .seconds(60),
                    maxResponseBytes: Self.mostBytes
                )
            )
        } catch {
            throw SampleFeedError(error.message)
        }
        guard response.isSuccess else {
            let words = String(decoding: response.body.prefix(400), as: UTF8.self)
            let shown = ServerWords.words(words, hiding: login.map { [$0.secret] } ?? []) ?? "no reason"
            throw SampleFeedError("ClickHouse refuses the query (status \(response.status)): \(shown)")
        }
        return response.body.split(separator: UInt8(ascii: "\n")).map { Array($0) }
    }
}

extension ClickHouseFeed.Cursor {
    /// The place of a row; nil for a line that is no row.
    fileprivate init?(_ row: JSONValue) {
        guard let arrived = row["arrived_seconds"].flatMap({ $0.int ?? $0.string.flatMap { Int($0) } }),
            let sender = row["sender"]?.string, let playback = row["playback"]?.string, let id = row["id"]?.string,
            let sequence = row["sequence"]?.string ?? row["sequence"]?.int.map(String.init), UInt64(sequence) != nil
        else { return nil }
        self.init(arrived: arrived, sender: sender, playback: playback, sequence: sequence, id: id)
    }
}
