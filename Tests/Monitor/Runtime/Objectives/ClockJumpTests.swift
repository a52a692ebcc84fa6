import Instrument
import InstrumentWatch
import Testing

@testable import InstrumentMonitor

@Suite("A wall clock that jumps")
struct ClockJumpTests {
    private static let day = 86_400
    private let start: Drive

    init() throws {
        var watched = configuration([try stream("a")])
        watched.objectives = [Objective(name: "up", indicator: .up, goal: 0.9)]
        start = Drive(watched)
    }

    private func jump(_ drive: inout Drive, _ seconds: Int) {
        let time = drive.now.wallTime.milliseconds + Int64(seconds) * 1_000
        drive.now = Timestamp(instant: drive.now.instant, wallTime: WallTime(milliseconds: time))
    }

    private func minutes(_ drive: Drive) throws -> [Int] {
        try #require(drive.model.stream(named: "a")).history.chart.minutes().map { Int($0.minute) }
    }

    /// The seconds of which the budget knows something in the latest minutes.
    private func known(_ drive: Drive, minutes: Int) throws -> Double {
        let series = try #require(drive.model.objectives.series.values.first)
        return series.sums(minutes: minutes, at: drive.now.wallTime).total
    }

    private func isComplete(_ minutes: [Int]) -> Bool { zip(minutes, minutes.dropFirst()).allSatisfy { $0 + 1 == $1 } }

    @Test("A jump that is undone within ten minutes leaves no trace", arguments: [3 * day, -3 * day, 40_000 * day])
    func undone(_ seconds: Int) throws {
        var (drive, steady) = (start, start)
        drive.run(for: .seconds(1_200))
        jump(&drive, seconds)
        drive.run(for: .seconds(300))
        jump(&drive, -seconds)
        drive.run(for: .seconds(300))
        steady.run(for: .seconds(1_800))
        #expect(try minutes(drive) == minutes(steady))
        let charts = try [drive, steady].map { try #require($0.model.stream(named: "a")).history.chart }
        #expect(charts[0] == charts[1])
        for length in [5, 60, 360, 43_200] {
            #expect(try known(drive, minutes: length) == known(steady, minutes: length))
        }
        #expect(drive.model.stream(named: "a")?.history.today == steady.model.stream(named: "a")?.history.today)
    }

    @Test("A clock that goes back by days keeps the order and the age of what is known, and so does its correction")
    func backward() throws {
        var (drive, steady) = (start, start)
        drive.run(for: .seconds(3_600))
        let before = try minutes(drive)
        jump(&drive, -3 * Self.day)
        drive.run(for: .seconds(3_600))
        #expect(try isComplete(minutes(drive)))
        #expect(try minutes(drive).count >= 119)
        #expect(try minutes(drive).allSatisfy { $0 <= drive.now.wallTime.milliseconds / 60_000 })
        #expect(try (240...300).contains(known(drive, minutes: 5)))
        #expect(try (3_540...3_600).contains(known(drive, minutes: 60)))
        jump(&drive, 3 * Self.day)
        drive.run(for: .seconds(3_600))
        steady.run(for: .seconds(10_800))
        #expect(try Array(minutes(drive).prefix(before.count)) == before)
        #expect(try minutes(drive) == minutes(steady))
        #expect(try known(drive, minutes: 43_200) == known(steady, minutes: 43_200))
        #expect(try (240...300).contains(known(drive, minutes: 5)))
    }

    @Test("A clock that goes forward by days leaves a gap, as a machine does that was suspended")
    func forward() throws {
        var drive = start
        drive.run(for: .seconds(3_600))
        jump(&drive, 3 * Self.day)
        drive.run(for: .seconds(1_800))
        let quarters = try #require(drive.model.stream(named: "a")).history.chart.quarters().map { Int($0.minute) }
        #expect(zip(quarters, quarters.dropFirst()).map { $1 - $0 }.max() ?? 0 >= 3 * 1_440 - 30)
        #expect(try known(drive, minutes: 43_200) > 5_300)
        #expect(try (240...300).contains(known(drive, minutes: 5)))
    }

    @Test("A process that starts with a clock in the past keeps the history and the budgets of the earlier one")
    func restart() throws {
        var first = start
        first.run(for: .seconds(7_200))
        let saved = try #require(SavedMonitor(first.saved.bytes))
        let history = first.model.savedHistory(at: first.now.wallTime).bytes
        var second = Drive(first.model.configuration, at: Int64(7_200 - 40 * Self.day) * 1_000, restoring: saved)
        #expect(second.model.restoreHistory(history, at: second.now.wallTime)?.damages == 0)
        #expect(try minutes(second).count == minutes(first).count)
        second.run(for: .seconds(1_800))
        #expect(try isComplete(minutes(second)))
        #expect(try known(second, minutes: 43_200) > 8_900)
        // The clock is set.
        jump(&second, 40 * Self.day)
        second.run(for: .seconds(1_800))
        #expect(try minutes(second).first == minutes(first).first)
        #expect(try known(second, minutes: 43_200) > 10_700)
        #expect(try known(second, minutes: 60) <= 3_660)
    }

    @Test("What was saved before a move is saved again as a whole")
    func mark() throws {
        var drive = start
        drive.run(for: .seconds(600))
        let mark = drive.model.savedHistory(at: drive.now.wallTime).mark
        drive.run(for: .seconds(600))
        #expect(mark.holds(for: drive.model))
        jump(&drive, -Self.day)
        drive.run(for: .seconds(300))
        #expect(mark.holds(for: drive.model))
        drive.run(for: .seconds(600))
        #expect(!mark.holds(for: drive.model))
    }
}
