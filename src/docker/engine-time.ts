/** Seconds and nanoseconds, as the engine takes `since` and `until`; it refuses RFC 3339. */
export function toEngineTime(time: Date | string): string {
  const text = typeof time === 'string' ? time : time.toISOString()
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? ''
  return `${Math.floor(Date.parse(text) / 1000)}.${fraction.padEnd(9, '0')}`
}
