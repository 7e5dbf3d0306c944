/** The least of 1, 2, 5, 10, 20, 50 … that reaches the peak. */
export function decimalTop(peak: number, least: number) {
  let power = 10 ** Math.floor(Math.log10(Math.max(peak, least)))
  for (; ; power *= 10)
    for (const step of [1, 2, 5]) if (step * power >= Math.max(peak, least)) return step * power
}

/** The least power of two that reaches the peak; the limit when that is not far. */
export function memoryTop(peak: number, limit: number | null) {
  if (limit && peak * 2 >= limit) return Math.max(limit, peak)
  return 2 ** Math.ceil(Math.log2(Math.max(peak, 2 ** 20)))
}
