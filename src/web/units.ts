/** Bytes in powers of 1024, with two or three digits that count: `31.4 MiB`. */
export const bytes = (count: number) => inUnits(count, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB'])

/** Bytes a second in powers of 1000, as networks and disks are sold. */
export const rate = (perSecond: number) =>
  `${inUnits(perSecond, 1000, ['B', 'kB', 'MB', 'GB', 'TB'])}/s`

/** Per cent of one processor. */
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
