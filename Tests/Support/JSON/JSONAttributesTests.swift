import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentJSON

@Suite("JSON of attributes")
struct JSONAttributesTests {
    @Test("Attributes become an object and come back", arguments: UInt64(1)...100)
    func roundTrip(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let attributes = RandomSamples.sample(&generator).attributes
        let json = JSONValue(attributes)
        #expect(try JSONValue(parsing: json.bytes) == json)
        for attribute in attributes {
            #expect(json[attribute.name.spelling]?.attributeValue == attribute.value)
        }
    }

    @Test("Equal attributes are written as equal bytes when their names are in different normal forms")
    func equalBytes() {
        for names in AwkwardNames.sets {
            let nested = (0..<8).map { round in
                var members = [String: AttributeValue](minimumCapacity: names.count << round)
                for name in names { members[name] = 1 }
                var writer = JSONWriter()
                writer.value(.object(members))
                return writer.bytes
            }
            #expect(Set(nested).count == 1, "\(names.map { Array($0.utf8) })")
            let orders = [names, names.reversed(), names.sorted()].map { names in
                var attributes = Attributes()
                for name in names { attributes[AttributeName(name)] = 1 }
                var writer = JSONWriter()
                writer.attributes(attributes)
                return writer.bytes
            }
            #expect(Set(orders).count == 1)
        }
    }

    @Test("A JSON value that no attribute can hold is left out")
    func leftOut() {
        let json: JSONValue = ["a": nil, "b": [nil, 1, .double(.nan)], "c": .double(.infinity), "d": [:]]
        #expect(json.attributeValue == ["b": [1], "d": [:]])
        #expect(JSONValue.null.attributeValue == nil)
    }
}

/// Names of which the operator `<` of `String` makes no order.
enum AwkwardNames {
    /// Ten sets of twelve names each, of composed letters, of letters with a combining mark, and of control characters.
    static let sets: [[String]] = {
        var generator = SeededGenerator(seed: 11)
        let pieces = ["e\u{301}", "\u{E9}", "a", "\n", "\u{0}", "\u{1F}", "\"", "/", " ", "\u{1F600}"]
        return (0..<10).map { _ in
            var names: Set<String> = ["e\u{301}", "\u{E9}\n", "e\u{301}\"\u{0}", "\u{E9}/"]
            while names.count < 12 {
                names.insert((0..<3).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined())
            }
            return Array(names)
        }
    }()
}
