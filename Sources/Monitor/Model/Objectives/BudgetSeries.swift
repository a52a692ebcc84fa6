internal import Instrument
internal import InstrumentText

/// What was good and bad over the latest two months: minutes of an hour, five minutes of six hours, hours of three
/// days, and quarters of a day for the rest; bounded.
package struct BudgetSeries: Hashable, Sendable {
    struct Point: Hashable, Sendable {
        /// The start, in units of the level since 1970.
        var unit: Int
        var bad: Double
        var total: Double
    }

    /// The sums of a day.
    package struct Day: Hashable, Sendable {
        package var bad = 0.0
        package var total = 0.0

        fileprivate mutating func add(_ point: Point) { (bad, total) = (bad + point.bad, total + point.total) }
    }

    struct Level: Hashable, Sendable {
        /// The length of a unit.
        let minutes: Int
        let most: Int
        var points: [Point] = []
    }

    /// The time of the first value.
    private(set) var begin: WallTime?
    private(set) var levels = [
        Level(minutes: 1, most: 60), Level(minutes: 5, most: 72), Level(minutes: 60, most: 72),
        // A report may be about the month before this one.
        Level(minutes: 360, most: 248),
    ]

    mutating func add(bad: Double, total: Double, at time: WallTime) {
        guard total > 0, bad.isFinite, total.isFinite else { return }
        begin = begin ?? time
        for index in levels.indices { levels[index].add(Point(unit: 0, bad: min(bad, total), total: total), at: time) }
    }

    /// Moves all that is known, because the wall clock has jumped.
    mutating func move(byMinutes minutes: Int) {
        for index in levels.indices { levels[index].move(byMinutes: minutes) }
        begin = begin.map { WallTime(milliseconds: $0.milliseconds.saturatingAdd(Int64(minutes) * 60_000)) }
    }

    /// The latest minute of which something is known, in minutes since 1970.
    var latestMinute: Int? { levels.first?.points.last?.unit }

    /// The sums of the latest minutes, from the finest level that has them.
    func sums(minutes: Int, at time: WallTime) -> (bad: Double, total: Double) {
        guard let level = levels.first(where: { $0.minutes * $0.most >= minutes }) ?? levels.last else { return (0, 0) }
        return level.sums(minutes, at: time)
    }

    /// What was good and bad on each of the days, in UTC; nil for a day of which nothing is known.
    func days(_ days: ClosedRange<Int>) -> [Day?] {
        var sums = [Day?](repeating: nil, count: days.count)
        guard let level = levels.last else { return sums }
        for point in level.points {
            let day = point.unit.flooredQuotientAndRemainder(dividingBy: 1_440 / level.minutes).quotient
            guard days.contains(day) else { continue }
            var sum = sums[day - days.lowerBound] ?? Day()
            sum.add(point)
            sums[day - days.lowerBound] = sum
        }
        return sums
    }

    /// Whether one of the latest two months has a value.
    func isKnown(at time: WallTime) -> Bool {
        levels.last.map { $0.sums($0.minutes * $0.most, at: time).total > 0 } ?? false
    }

    /// Minutes since the first value.
    func age(at time: WallTime) -> Int {
        begin.map { Int(clamping: max(0, time.milliseconds.saturatingSubtract($0.milliseconds)) / 60_000) } ?? 0
    }

    /// The numbers to save, of each level.
    var saved: [[[Int]]] {
        levels.map { level in
            level.points.map { [$0.unit, Int($0.bad.rounded()), Int($0.total.rounded())] }
        }
    }

    /// Restores ``saved``; nil for another form.
    init?(saved: [[[Int]]], begin: WallTime?) {
        self.begin = begin
        guard saved.count == levels.count else { return nil }
        for (index, numbers) in saved.enumerated() {
            guard let points = Self.points(numbers, most: levels[index].most) else { return nil }
            levels[index].points = points
        }
    }

    init() {}

    private static func points(_ numbers: [[Int]], most: Int) -> [Point]? {
        guard numbers.count <= most else { return nil }
        var points: [Point] = []
        for entry in numbers {
            guard entry.count == 3, entry[1] >= 0, entry[2] >= entry[1], points.last.map({ $0.unit < entry[0] }) ?? true
            else { return nil }
            points.append(Point(unit: entry[0], bad: Double(entry[1]), total: Double(entry[2])))
        }
        return points
    }
}

extension BudgetSeries.Level {
    private func unit(of time: WallTime) -> Int { Int(clamping: time.milliseconds / Int64(minutes * 60_000)) }

    fileprivate mutating func add(_ point: BudgetSeries.Point, at time: WallTime) {
        let unit = unit(of: time)
        // A wall clock that steps back continues in the latest point.
        if let last = points.last, last.unit >= unit {
            points[points.count - 1].bad += point.bad
            points[points.count - 1].total += point.total
            return
        }
        points.append(BudgetSeries.Point(unit: unit, bad: point.bad, total: point.total))
        if points.count > most { points.removeFirst(points.count - most) }
    }

    fileprivate mutating func move(byMinutes length: Int) {
        let units = length.units(of: minutes)
        for index in points.indices { points[index].unit += units }
    }

    fileprivate func sums(_ length: Int, at time: WallTime) -> (bad: Double, total: Double) {
        let first = unit(of: time) - max(1, length / minutes)
        var (bad, total) = (0.0, 0.0)
        for point in points.reversed() {
            if point.unit <= first { break }
            bad += point.bad
            total += point.total
        }
        return (bad, total)
    }
}
