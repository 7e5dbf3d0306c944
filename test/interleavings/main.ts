import './world.ts'

const { runOrder } = await import('./order.ts')

const realNow = Bun.nanoseconds
const options = Object.fromEntries(
  process.argv
    .slice(2)
    .map((argument) => argument.replace(/^--/, '').split('=') as [string, string?]),
)
const seed = Number(options.seed ?? 1)
const count = Number(options.count ?? 1)
const without = options.without ? options.without.split(',').map(Number) : []
const isCalm = 'calm' in options

const begun = realNow()
let bad = 0
for (let at = 0; at < count; at++) {
  const one = { seed: seed + at, without, isCalm }
  const { faults, actions, trace, journal } = await runOrder(one)
  if (faults.length === 0 && !('trace' in options)) continue
  if (faults.length > 0) bad++
  const kept = actions.map((name, at) => (without.includes(at) ? null : name)).filter(Boolean)
  console.log(`DAVIT_SEED=${one.seed}: ${faults[0] ?? 'well'} | ${kept.join(', ')}`)
  if (count === 1 || 'trace' in options) {
    console.log(
      [
        ...trace,
        ...journal.filter((line) => !line.includes('"message":"request"')),
        ...faults,
      ].join('\n'),
    )
  }
}
const seconds = (realNow() - begun) / 1e9
console.log(`${count} orders, ${bad} bad, ${(count / seconds).toFixed(1)} a second`)
process.exit(bad > 0 ? 1 : 0)
