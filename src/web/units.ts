/** The units of a chart's values; assets/chart-units.js has the same. */
export type Unit = keyof typeof units

/** `1 file`, `2,000 files`. */
export const counted = (count: number, one: string, many = `${one}s`) =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

/** Bytes in powers of 1024, with two or three significant digits: `31.4 MiB`. */
export const bytes = (count: number) => inUnits(count, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB'])

/** Bytes per second in powers of 1000, as for networks and disks. */
export const rate = (perSecond: number) =>
  `${inUnits(perSecond, 1000, ['B', 'kB', 'MB', 'GB', 'TB'])}/s`

/** Percent of one processor. */
export const percent = (value: number) =>
  `${value > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)} %`

function inUnits(count: number, base: number, units: string[]) {
  let value = count
  let unit = 0
  while (Math.round(value) >= base && unit < units.length - 1) {
    value /= base
    unit++
  }
  return `${unit === 0 || value >= 99.95 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}

const perSecond = (value: number) =>
  `${value > 0 && value < 9.95 ? Number(value.toPrecision(2)) : Math.round(value).toLocaleString('en')}/s`

const latency = (milliseconds: number) => {
  if (milliseconds >= 9950) return `${Math.round(milliseconds / 1000)} s`
  if (milliseconds >= 995) return `${(milliseconds / 1000).toFixed(1)} s`
  return `${Number(milliseconds.toPrecision(2))} ms`
}

export const units = { bytes, rate, percent, perSecond, duration: latency }

const second = 1000
const minute = 60 * second
const hour = 60 * minute

export function duration(ms: number) {
  if (ms < 10 * second) return `${(Math.max(0, ms) / second).toFixed(1)} s`
  if (ms < minute) return `${Math.round(ms / second)} s`
  if (ms < hour) return `${Math.floor(ms / minute)} min ${Math.floor((ms % minute) / second)} s`
  return `${Math.floor(ms / hour)} h ${Math.floor((ms % hour) / minute)} min`
}
