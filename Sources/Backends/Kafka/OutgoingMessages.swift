internal import Instrument
internal import InstrumentBackends
internal import InstrumentText

/// Messages that are ready for librdkafka, which copies them: all values in one piece of memory, all other texts in
/// another.
final class OutgoingMessages: Sendable {
    struct Message {
        /// The sample that the message is of.
        let id: SampleID
        /// The place of the value in `values`.
        let value: Range<Int>
        /// The place of the key in `texts`.
        let key: Range<Int>?
        /// Positions in `headers`.
        let headers: Range<Int>
    }

    /// The places of a header's name and value in `texts`.
    struct Header {
        let name: Range<Int>
        let value: Range<Int>
    }

    let messages: [Message]
    let headers: [Header]
    let values: ByteWriter
    let texts: ByteWriter

    /// The messages that a mapping made of samples.
    init(_ mapped: [(id: SampleID, message: KafkaMessage)]) {
        var (messages, headers) = ([Message](), [Header]())
        var values = ByteWriter(capacity: mapped.count * 1024)
        var texts = ByteWriter(capacity: mapped.count * 128)
        messages.reserveCapacity(mapped.count)
        for (id, message) in mapped {
            let (value, header) = (values.count, headers.count)
            values.append(message.value)
            let key = message.key.map { texts.place(of: $0) }
            for part in message.headers {
                headers.append(Header(name: texts.place(of: part.name), value: texts.place(of: part.value)))
            }
            messages.append(
                Message(id: id, value: value..<values.count, key: key, headers: header..<headers.count)
            )
        }
        (self.messages, self.headers) = (messages, headers)
        self.values = values
        self.texts = texts
    }

    /// The messages of ``KafkaMapping``: the same as those that ``KafkaMapping/message(of:)`` makes one by one.
    init(of records: ArraySlice<SampleRecord>, _ encoder: LineEncoder) {
        let lines = encoder.lines(of: records)
        var (messages, headers) = ([Message](), [Header]())
        messages.reserveCapacity(records.count)
        headers.reserveCapacity(records.count * 3)
        var texts = ByteWriter(capacity: records.count * 128)
        let idName = texts.place(of: "id")
        let schema = Header(name: texts.place(of: "schema"), value: texts.place(of: JSONLines.schema))
        let typeName = texts.place(of: "type")
        let event = Header(name: typeName, value: texts.place(of: "event"))
        let metric = Header(name: typeName, value: texts.place(of: "metric"))
        for (index, record) in records.enumerated() {
            let first = headers.count
            headers.append(Header(name: idName, value: texts.place(of: record.id)))
            headers.append(schema)
            headers.append(KafkaMapping.isEvent(record) ? event : metric)
            for part in KafkaMapping.monitorHeaders(of: record) {
                headers.append(Header(name: texts.place(of: part.name), value: texts.place(of: part.value)))
            }
            let key = KafkaMapping.key(of: record).map { texts.place(of: $0) }
            messages.append(
                Message(id: record.id, value: lines.line(at: index), key: key, headers: first..<headers.count)
            )
        }
        (self.messages, self.headers) = (messages, headers)
        values = lines.finish()
        self.texts = texts
    }
}

extension ByteWriter {
    /// Appends a text, and returns where.
    fileprivate mutating func place(of text: String) -> Range<Int> {
        let start = count
        append(text)
        return start..<count
    }

    /// Appends the text of an identifier, and returns where.
    fileprivate mutating func place(of id: SampleID) -> Range<Int> {
        let room = room(for: UUIDText.length)
        id.write(to: UnsafeMutableBufferPointer(start: room, count: UUIDText.length))
        advance(by: UUIDText.length)
        return count - UUIDText.length..<count
    }
}
