/// Functions of floating-point numbers that give the same bits on every platform: the mathematical libraries of systems
/// differ in the last digit, and a replay has to agree with the device.
enum ExactMath {
    /// e to the power of `x`, within 2 units in the last place.
    static func exp(_ x: Double) -> Double {
        guard x < 709.79 else { return x.isNaN ? x : .infinity }
        guard x > -745.14 else { return x.isNaN ? x : 0 }
        // x = k · ln 2 + r, with ln 2 in two parts, so that r loses no digits (Cody and Waite).
        let k = (x * 1.442_695_040_888_963_4).rounded()
        let r = (x - k * 6.931_471_803_691_238_164_90e-1) - k * 1.908_214_929_270_587_700_02e-10
        var sum = 1.0
        for n in stride(from: 14.0, through: 1.0, by: -1.0) { sum = 1 + sum * r / n }
        // In two steps, because 2 to the power of k alone can be outside of the range.
        let half = Int(k) / 2
        return sum * Double(sign: .plus, exponent: half, significand: 1)
            * Double(sign: .plus, exponent: Int(k) - half, significand: 1)
    }
}
