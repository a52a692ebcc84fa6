import Instrument
import Testing

@Suite("The stream, the labels and the location of a monitor")
struct MonitorFieldsTests {
    private func attributes(_ labels: [String: AttributeValue], _ more: Attributes = [:]) -> Attributes {
        var attributes = more
        attributes["monitorLabels"] = .object(labels)
        return attributes
    }

    @Test("Each label is a separate attribute, sorted by name, and no other attribute of the sample is lost")
    func flat() {
        let flat = attributes(["isp": "b", "cdn": "a"], ["monitorStream": "news", "n": 1]).withFlatLabels
        #expect(flat == ["monitorStream": "news", "n": 1, "cdn": "a", "isp": "b"])
        #expect(attributes(["isp": "b", "cdn": "a"]).labelElements.map(\.name) == ["cdn", "isp"])
        let plain: Attributes = ["n": 1]
        #expect(plain.withFlatLabels == plain && plain.monitorElements.isEmpty && plain.monitorHeaders.isEmpty)
    }

    @Test("A label with the name of another attribute has a prefix, and two labels never have one name")
    func taken() {
        let labels: [String: AttributeValue] = [
            "title": "of the label", "label_title": "of another label", "value": "v", "bufferLevel": "low",
            "playbackId": "p",
        ]
        let flat = attributes(labels, ["bufferLevel": 900]).withFlatLabels
        #expect(
            flat == [
                "bufferLevel": 900, "label_bufferLevel": "low", "label_label_title": "of the label",
                "label_title": "of another label", "label_value": "v", "label_playbackId": "p",
            ]
        )
    }

    @Test("Labels of a recording may be anything: empty ones are left out, other values are described")
    func hostile() {
        let labels = attributes(["": "x", "empty": "", "n": 5, "list": [1, 2], "line": "a\r\nb"]).monitorLabels
        #expect(labels.map(\.name) == ["line", "list", "n"])
        #expect(labels.map(\.value) == ["a\r\nb", "[1, 2]", "5"])
        let text: Attributes = ["monitorLabels": "no object"]
        #expect(text.monitorLabels.isEmpty && text.labelElements.isEmpty)
    }

    @Test("Labels of a metric are among its labels, and its identifiers are not")
    func metric() {
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: 0), wallTime: WallTime(milliseconds: 0))
        let all = attributes(
            ["cdn": "a"],
            ["playbackId": "p", "rendition": "640x360", "monitorStream": "news", "monitorLocation": "oslo"]
        )
        let metric = Metric(.playTime, 1, tracker: TrackerID(0), time: time, attributes: all)
        #expect(
            Set(metric.labels.map(\.name)) == ["cdn", "rendition", "monitorStream", "monitorLocation"]
        )
    }

    @Test("Headers of a message name stream, location and labels")
    func headers() {
        let all = attributes(["cdn": "a", "id": "7"], ["monitorStream": "news", "monitorLocation": "oslo"])
        #expect(all.monitorHeaders.map(\.name) == ["stream", "location", "label.cdn", "label.id"])
        #expect(all.monitorHeaders.map(\.value) == ["news", "oslo", "a", "7"])
    }
}
