internal import InstrumentJSON

/// Questions that wait for their answers, each made of one request for a property.
///
/// Numbers are never used again on a connection, so that a late reply is not taken for another one.
struct MPVRequests {
    /// The outcome of a question.
    struct Answers: Hashable {
        var question: Int
        var values: [MPVProperty: JSONValue] = [:]
        /// Whether the player answered anything at all, even that it has no value.
        var isHeard = false
    }

    private struct Request {
        var question: Int
        var property: MPVProperty
    }

    private var nextNumber = 1
    private var requests: [Int: Request] = [:]
    private var open: [Int: (answers: Answers, left: Int)] = [:]

    /// A number for a request whose reply is ignored.
    mutating func number() -> Int {
        defer { nextNumber &+= 1 }
        return nextNumber
    }

    /// The lines that ask a question.
    mutating func ask(_ question: MPVModel.Question) -> [UInt8] {
        open[question.number] = (Answers(question: question.number), question.properties.count)
        var lines: [UInt8] = []
        for property in question.properties {
            let number = number()
            requests[number] = Request(question: question.number, property: property)
            lines += MPVCommand.get(property).line(request: number)
        }
        return lines
    }

    /// Takes a reply; returns the question's answers if it was the last one.
    mutating func take(_ number: Int, _ value: JSONValue?) -> Answers? {
        guard let request = requests.removeValue(forKey: number), var entry = open[request.question] else { return nil }
        entry.answers.isHeard = true
        if let value { entry.answers.values[request.property] = value }
        entry.left -= 1
        open[request.question] = entry.left > 0 ? entry : nil
        return entry.left > 0 ? nil : entry.answers
    }

    /// Gives a question up; returns what was answered, or nil if it is answered.
    mutating func expire(_ question: Int) -> Answers? {
        guard let entry = open.removeValue(forKey: question) else { return nil }
        requests = requests.filter { $0.value.question != question }
        return entry.answers
    }
}
