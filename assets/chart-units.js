// Values of charts as they are read, as src/web/units.ts has them.

const inUnits = (count, base, units) => {
  let [value, unit] = [count, 0]
  for (; Math.round(value) >= base && unit < units.length - 1; unit++) value /= base
  return `${unit === 0 || value >= 99.95 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}

const units = {
  bytes: (count) => inUnits(count, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']),
  rate: (count) => `${inUnits(count, 1000, ['B', 'kB', 'MB', 'GB', 'TB'])}/s`,
  percent: (value) => `${value > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)} %`,
  perSecond: (value) =>
    `${value > 0 && value < 9.95 ? Number(value.toPrecision(2)) : Math.round(value).toLocaleString('en')}/s`,
  duration: (value) => {
    if (value >= 9950) return `${Math.round(value / 1000)} s`
    if (value >= 995) return `${(value / 1000).toFixed(1)} s`
    return `${Number(value.toPrecision(2))} ms`
  },
}

export const text = (value, unit) => units[unit](value)
