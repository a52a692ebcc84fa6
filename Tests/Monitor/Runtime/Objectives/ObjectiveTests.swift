import Instrument
import InstrumentJSON
import InstrumentWatch
import Testing

@testable import InstrumentMonitor

@Suite("Objectives")
struct ObjectiveTests {
    private func watched(_ streams: [WatchedStream], _ objectives: Objective...) -> WatchConfiguration {
        var configuration = configuration(streams)
        configuration.objectives = objectives.map { objective in
            var objective = objective
            objective.receivers = ["ops"]
            return objective
        }
        return configuration
    }

    /// The rows of the document by objective and group.
    private func rows(_ drive: Drive) -> [String: JSONValue] {
        let document = drive.model.objectives.document(drive.model.configuration.objectives, at: drive.now.wallTime)
        guard case .array(let list) = document else { return [:] }
        var rows: [String: JSONValue] = [:]
        for row in list {
            let group = row["group"]?.string.map { " " + $0 } ?? ""
            rows[(row["name"]?.string ?? "") + group] = row
        }
        return rows
    }

    private func number(_ row: JSONValue?, _ name: String) -> Double? {
        if case .double(let value)? = row?[name] { value } else { nil }
    }

    @Test("The budget of `up` is what the goal leaves, for each value of the label")
    func up() throws {
        var objective = Objective(name: "up", indicator: .up, goal: 0.9)
        objective.groupBy = "cdn"
        let streams = [try stream("a", labels: ["cdn": "one"]), try stream("b", labels: ["cdn": "two"])]
        var drive = Drive(watched(streams, objective), ["b": .fails(after: .seconds(1), code: "x")])
        drive.run(for: .seconds(1_200))
        let rows = rows(drive)
        #expect(number(rows["up one"], "value") == 1)
        #expect(number(rows["up one"], "budgetLeft") == 1)
        #expect(number(rows["up two"], "value") == 0)
        // All time was bad where a tenth may be: ten budgets, one of which was there.
        #expect(try #require(number(rows["up two"], "budgetLeft")) < -8.9)
    }

    @Test(
        "The budget of a stream sends no message about an outage of which the receivers know",
        arguments: [true, false]
    )
    func inhibited(isKnown: Bool) throws {
        var objective = Objective(name: "up", indicator: .up, goal: 0.99)
        objective.groupBy = "stream"
        var watched = watched([try stream("a")], objective)
        var down = try alert("down", "up == 0")
        if !isKnown { down.receivers = ["others"] }
        watched.alerts = [down]
        var drive = Drive(watched)
        drive.run(for: .seconds(3_600))
        drive.behaviours["a"] = .fails(after: .seconds(1), code: "x")
        drive.send(.ended(.failed(code: "x", message: "m")), to: "a")
        drive.run(for: .seconds(1_800))
        #expect(drive.model.book.open.count == 2)
        drive.behaviours = [:]
        drive.run(for: .seconds(3_600))
        #expect(drive.model.book.open.isEmpty)
        let kinds = drive.messages.filter { $0.alert == "objective up" }.map(\.kind)
        #expect(kinds == (isKnown ? [] : [.opens, .closes]))
        #expect(drive.messages.filter { $0.alert == "down" }.map(\.kind) == [.opens, .closes])
    }

    @Test("A burn rate that is high over both windows opens one incident, and ends soon after the fault")
    func burnRate() throws {
        let objective = Objective(name: "up", indicator: .up, goal: 0.99)
        var drive = Drive(watched([try stream("a")], objective))
        drive.run(for: .seconds(3_600))
        #expect(drive.messages.isEmpty)
        drive.behaviours["a"] = .fails(after: .seconds(1), code: "x")
        drive.send(.ended(.failed(code: "x", message: "m")), to: "a")
        // 14.4 % of the latest hour are bad after some nine minutes.
        drive.run(for: .seconds(420))
        #expect(drive.messages.isEmpty)
        drive.run(for: .seconds(300))
        #expect(drive.messages.map(\.kind) == [.opens])
        let message = try #require(drive.messages.first)
        #expect(message.title == "The error budget of up burns too fast")
        #expect(message.receivers == ["ops"])
        #expect(message.severity == .critical)
        drive.behaviours = [:]
        // The next attempt may take minutes, the windows of the second rule half an hour.
        drive.run(for: .seconds(3_600))
        #expect(drive.messages.map(\.kind) == [.opens, .closes])
    }

    @Test("Starts are counted by their time, and a session without a picture is a bad start")
    func starts() throws {
        let schedule = WatchedStream.Schedule.sampled(every: .seconds(60), for: .seconds(30))
        let quick = Objective(name: "quick", indicator: .startWithin(.milliseconds(400)), goal: 0.5)
        let slow = Objective(name: "slow", indicator: .startWithin(.seconds(2)), goal: 0.5)
        let streams = [try stream("a", schedule), try stream("b", schedule)]
        var drive = Drive(watched(streams, quick, slow), ["b": .fails(after: .seconds(1), code: "x")])
        drive.run(for: .seconds(1_800))
        let rows = rows(drive)
        // Every picture comes after half a second; the other stream shows none.
        #expect(number(rows["quick"], "value") == 0)
        let good = try #require(number(rows["slow"], "value"))
        #expect((0.2...0.95).contains(good), "\(good)")
    }

    @Test("Stalls are a share of the watched time")
    func stalls() throws {
        let objective = Objective(name: "smooth", indicator: .notStalled, goal: 0.995)
        var drive = Drive(watched([try stream("a")], objective))
        drive.run(for: .seconds(900))
        drive.emit(.bufferBegin, "a")
        drive.run(for: .seconds(100))
        drive.emit(.bufferFinish, "a")
        drive.run(for: .seconds(100))
        let value = try #require(number(rows(drive)["smooth"], "value"))
        #expect((0.89...0.97).contains(value), "\(value)")
    }

    @Test("Budgets and burn-rate alerts survive a restart: no message is sent twice")
    func restart() throws {
        let objective = Objective(name: "up", indicator: .up, goal: 0.99)
        let configuration = watched([try stream("a")], objective)
        let failing = Drive.Behaviour.fails(after: .seconds(1), code: "x")
        var first = Drive(configuration, ["a": failing])
        first.run(for: .seconds(2_400))
        #expect(first.messages.map(\.kind) == [.opens])
        let left = try #require(number(rows(first)["up"], "budgetLeft"))
        let saved = try #require(SavedMonitor(first.saved.bytes))
        var second = Drive(configuration, ["a": failing], at: 2_460_000, restoring: saved)
        let restored = try #require(number(rows(second)["up"], "budgetLeft"))
        #expect(abs(restored - left) < 0.5, "\(restored) \(left)")
        second.run(for: .seconds(900))
        #expect(second.messages.isEmpty)
        #expect(second.model.book.open.count == 1)
    }

    @Test("A stream that plays on without further starts burns its budget of starts no more")
    func noFurtherStarts() throws {
        let objective = Objective(name: "start", indicator: .startWithin(.seconds(2)), goal: 0.99)
        let failing = Drive.Behaviour.fails(after: .seconds(1), code: "x")
        var drive = Drive(watched([try stream("a")], objective), ["a": failing])
        drive.run(for: .seconds(2_400))
        #expect(drive.messages.map(\.kind) == [.opens])
        drive.behaviours = [:]
        drive.run(for: .seconds(2_400))
        #expect(drive.messages.map(\.kind) == [.opens, .closes])
        #expect(drive.model.stream(named: "a")?.word == .playing)
    }

    @Test("The budget of a stream that is no longer watched burns no more, and its incident closes")
    func removedStream() throws {
        var objective = Objective(name: "up", indicator: .up, goal: 0.99)
        objective.groupBy = "stream"
        let streams = [try stream("a"), try stream("b")]
        var drive = Drive(watched(streams, objective), ["a": .fails(after: .seconds(1), code: "x")])
        drive.run(for: .seconds(2_400))
        #expect(drive.messages.map(\.kind) == [.opens])
        drive.reload(watched([streams[1]], objective))
        drive.run(for: .seconds(1_800))
        #expect(drive.messages.map(\.kind) == [.opens, .closes])
    }

    @Test("Budgets of an objective that is no longer configured are not restored, and its incident closes")
    func removedObjective() throws {
        let objective = Objective(name: "up", indicator: .up, goal: 0.99)
        let streams = [try stream("a")]
        let failing = Drive.Behaviour.fails(after: .seconds(1), code: "x")
        var first = Drive(watched(streams, objective), ["a": failing])
        first.run(for: .seconds(2_400))
        let saved = try #require(SavedMonitor(first.saved.bytes))
        var second = Drive(
            watched(streams, Objective(name: "other", indicator: .up, goal: 0.99)),
            at: 2_460_000,
            restoring: saved
        )
        #expect(second.model.objectives.series.isEmpty)
        second.run(for: .seconds(120))
        #expect(second.model.book.open.isEmpty)
        #expect(second.messages.map(\.kind) == [.closes])
    }

    @Test("The incident of a budget keeps its receivers, its severity and what silences it over a restart")
    func silencedRestart() throws {
        var objective = Objective(name: "up", indicator: .up, goal: 0.99)
        objective.groupBy = "cdn"
        let configuration = watched([try stream("a", labels: ["cdn": "one"])], objective)
        let failing = Drive.Behaviour.fails(after: .seconds(1), code: "x")
        var first = Drive(configuration, ["a": failing])
        first.run(for: .seconds(2_400))
        let matcher = try #require(LabelMatcher(label: "cdn", value: "one"))
        first.act(.silence([matcher], for: .seconds(86_400), reason: "known"), by: "Ana")
        first.run(for: .seconds(10))
        #expect(first.model.book.open.map(\.state.name) == ["silenced"])
        let saved = try #require(SavedMonitor(first.saved.bytes))
        var second = Drive(configuration, ["a": failing], at: 2_460_000, restoring: saved)
        second.run(for: .seconds(600))
        #expect(second.messages.isEmpty)
        let incident = try #require(second.model.book.open.first)
        #expect(incident.state.name == "silenced")
        #expect(incident.receivers == ["ops"])
        #expect(incident.alerts == first.model.book.open.first?.alerts)
    }

    @Test("A silence of a stream hides the budget of this stream, too", arguments: ["stream", "host"])
    func silencedStream(_ label: String) throws {
        var objective = Objective(name: "up", indicator: .up, goal: 0.99)
        objective.groupBy = label
        let configuration = watched([try stream("a")], objective)
        var drive = Drive(configuration, ["a": .fails(after: .seconds(1), code: "x")])
        let matcher = try #require(LabelMatcher(label: label, value: label == "stream" ? "a" : "example.org"))
        drive.act(.silence([matcher], for: .seconds(86_400), reason: "known"), by: "Ana")
        drive.run(for: .seconds(2_400))
        #expect(drive.messages.isEmpty)
        #expect(drive.model.book.open.map(\.state.name) == ["silenced"])
    }

    @Test("Two months of budgets are bounded, and windows are taken from the finest level that has them")
    func series() throws {
        var series = BudgetSeries()
        let begin: Int64 = 1_767_225_600_000
        for minute in 0..<(70 * 1_440) {
            let time = WallTime(milliseconds: begin + Int64(minute) * 60_000)
            series.add(bad: minute % 100 == 0 ? 60 : 0, total: 60, at: time)
        }
        #expect(series.levels.map(\.points.count) == [60, 72, 72, 248])
        let now = WallTime(milliseconds: begin + Int64(70 * 1_440 - 1) * 60_000)
        #expect(series.sums(minutes: 5, at: now).total == 300)
        #expect(series.sums(minutes: 360, at: now).total == 21_600)
        #expect(series.sums(minutes: 30 * 1_440, at: now).total == 2_592_000)
        #expect(abs(series.sums(minutes: 30 * 1_440, at: now).bad / 2_592_000 - 0.01) < 0.0001)
        let copy = try #require(BudgetSeries(saved: series.saved, begin: nil))
        #expect(copy.sums(minutes: 360, at: now).total == 21_600)
        #expect(BudgetSeries(saved: [[[1, 2, 1]], [], [], []], begin: nil) == nil)
        #expect(copy.sums(minutes: 5, at: now).total == 300)
        #expect(BudgetSeries(saved: [], begin: nil) == nil)
    }

    @Test("The rates are those of the workbook's table for 30 days")
    func rates() {
        #expect(ObjectiveBook.rules.map { ($0.rate(days: 30) * 10).rounded() / 10 } == [14.4, 6, 1])
    }
}
