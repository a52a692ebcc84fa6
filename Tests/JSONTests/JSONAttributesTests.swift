import Instrument
import InstrumentJSON
import InstrumentTestKit
import Testing

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

    @Test("What no attribute can be is left out")
    func leftOut() {
        let json: JSONValue = ["a": nil, "b": [nil, 1, .double(.nan)], "c": .double(.infinity), "d": [:]]
        #expect(json.attributeValue == ["b": [1], "d": [:]])
        #expect(JSONValue.null.attributeValue == nil)
    }
}
