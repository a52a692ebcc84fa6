package import InstrumentJSON

/// Questions that wait for their answers, each made of one request for a property.
///
/// Numbers are never used again on a connection, so that a late reply is not taken for another one.
package struct MPVRequests: Sendable {
    /// The outcome of a question.
    package struct Answers: Hashable, Sendable {
        var question: Int
        var values: [MPVProperty: JSONValue] = [:]
        /// Whether the player answered anything at all, even that it has no value.
        var isHeard = false
    }

    private struct Asked: Sendable {
        var question: Int
        var property: MPVProperty
    }

    /// A request for a property.
    package struct Request: Sendable {
        package var number: Int
        package var property: MPVProperty
    }

    private var nextNumber = 1
    private var requests: [Int: Asked] = [:]
    private var open: [Int: (answers: Answers, left: Int)] = [:]

    /// Creates a table without requests.
    package init() {}

    /// A number for a request whose reply is ignored.
    mutating func number() -> Int {
        defer { nextNumber &+= 1 }
        return nextNumber
    }

    /// The requests that ask a question.
    package mutating func open(_ question: MPVModel.Question) -> [Request] {
        open[question.number] = (Answers(question: question.number), question.properties.count)
        return question.properties.map { property in
            let number = number()
            requests[number] = Asked(question: question.number, property: property)
            return Request(number: number, property: property)
        }
    }

    /// The lines that ask a question.
    mutating func ask(_ question: MPVModel.Question) -> [UInt8] {
        open(question).flatMap { MPVCommand.get($0.property).line(request: $0.number) }
    }

    /// Takes a reply; returns the question's answers if it was the last one.
    package mutating func take(_ number: Int, _ value: JSONValue?) -> Answers? {
        guard let request = requests.removeValue(forKey: number), var entry = open[request.question] else { return nil }
        entry.answers.isHeard = true
        if let value { entry.answers.values[request.property] = value }
        entry.left -= 1
        open[request.question] = entry.left > 0 ? entry : nil
        return entry.left > 0 ? nil : entry.answers
    }

    /// Gives all questions up: replies that still come are ignored.
    package mutating func forget() { (requests, open) = ([:], [:]) }

    /// Gives a question up; returns what was answered, or nil if it is answered.
    mutating func expire(_ question: Int) -> Answers? {
        guard let entry = open.removeValue(forKey: question) else { return nil }
        requests = requests.filter { $0.value.question != question }
        return entry.answers
    }
}
