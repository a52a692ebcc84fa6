/// Rows of cells as lines of aligned columns, two spaces apart.
package struct ColumnTable {
    private let rows: [[TerminalText]]
    private let rightColumns: Set<Int>

    /// Creates a table; the columns in `rightColumns` are aligned to the right. Missing cells are empty.
    package init(_ rows: [[TerminalText]], rightColumns: Set<Int> = []) {
        self.rows = rows
        self.rightColumns = rightColumns
    }

    /// The lines, without spaces at their end.
    package var lines: [TerminalText] {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in rows.map { column < $0.count ? $0[column].columns : 0 }.max() ?? 0 }
        return rows.map { row in
            let last = row.lastIndex { !$0.isEmpty }
            return row.indices.prefix { $0 <= last ?? -1 }.map { column in
                let isRight = rightColumns.contains(column)
                // Nothing follows the last cell, so the cell needs no space.
                return column == last && !isRight
                    ? row[column] : row[column].padded(toColumns: widths[column], isRight: isRight)
            }.joined(separator: "  ")
        }
    }
}
