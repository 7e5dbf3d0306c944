import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import './world.ts'

// What Davit loads when it is first needed is loaded before the first order: that takes time of the
// machine, of which an order knows nothing. Commands load theirs in processes of their own.
const source = join(import.meta.dir, '../../src')
for (const path of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
  if (!/\.tsx?$/.test(path) || path === 'cli.ts') continue
  const file = join(source, path)
  for (const [, late] of readFileSync(file, 'utf8').matchAll(/\bimport\('(\.[\w./-]+\.tsx?)'\)/g))
    await import(join(dirname(file), late!))
}

const { ends, runOrder, runStory } = await import('./order.ts')
const { runServerOrder, runServerStory, serverStories } = await import('./server-orders.ts')
const { stories } = await import('./stories.ts')

const options = Object.fromEntries(
  process.argv
    .slice(2)
    .map((argument) => argument.replace(/^--/, '').split('=') as [string, string?]),
)
const without = options.without ? options.without.split(',').map(Number) : []
const isTold = 'trace' in options
let [orders, bad] = [0, 0]

if ('kills' in options) await ('servers' in options ? runServerStories() : runStories())
else if ('servers' in options)
  await runServers(Number(options.seed ?? 1), Number(options.count ?? 1))
else
  for (const seed of (options.seed ?? '1').split(','))
    await runOrders(Number(seed), Number(options.count ?? 1))

const { user, system } = process.cpuUsage()
const rate = (orders * 1e6) / (user + system) // the clock would tell how busy the machine is
console.log(`${orders} orders, ${bad} bad, ${rate.toFixed(1)} a second of a processor`)
process.exit(bad > 0 ? 1 : 0)

async function runServers(first: number, count: number) {
  for (let seed = first; seed < first + count; seed++) {
    const outcome = await runServerOrder(seed)
    const more = outcome.actions.join(', ')
    tell(`DAVIT_SERVERS=1 DAVIT_SEED=${seed}`, outcome, { more, isWhole: count === 1 })
  }
}

async function runOrders(first: number, count: number) {
  for (let seed = first; seed < first + count; seed++) {
    const kind = {
      isCalm: 'calm' in options,
      isShort: 'short' in options,
      hasProcesses: 'processes' in options,
      hasEdge: ['edge', 'watched', 'shares'].some((one) => one in options),
      hasShares: 'shares' in options,
      isWatched: 'watched' in options,
    }
    const outcome = await runOrder({ seed, without, ...kind })
    const kept = outcome.actions.filter((_, at) => !without.includes(at))
    const how = `${kind.isShort ? 'DAVIT_SHORT=1 ' : ''}${kind.hasProcesses ? 'DAVIT_PROCESSES=1 ' : ''}${kind.hasShares ? 'DAVIT_SHARES=1 ' : kind.isWatched ? 'DAVIT_WATCHED=1 ' : kind.hasEdge ? 'DAVIT_BY_EDGE=1 ' : ''}`
    tell(`${how}DAVIT_SEED=${seed}`, outcome, {
      more: kept.join(', '),
      isWhole: count === 1,
    })
  }
}

/** Davit ends at every call of every story; `--kills=title:call:how` tells one of them. */
async function runStories() {
  const [only, at, asked] = options.kills?.split(':') ?? []
  for (const [title, story] of Object.entries(stories)) {
    if ((only && only !== title) || (story.isBehindEdge && !('edge' in options))) continue
    const { calls } = await runStory(story, null, { hasEdge: 'edge' in options })
    for (let call = 0; call <= calls; call++)
      for (const how of ends) {
        if (at && (call !== Number(at) || how !== asked)) continue
        const outcome = await runStory(story, { call, how }, { hasEdge: 'edge' in options })
        tell(`--kills='${title}:${call}:${how}'`, outcome, { more: '', isWhole: Boolean(at) })
      }
  }
}

/** Davit is killed at every call of what is done to an app on several servers. */
async function runServerStories() {
  const [only, at, done] = options.kills?.split(':') ?? []
  for (const title of Object.keys(serverStories) as (keyof typeof serverStories)[]) {
    if (only && only !== title) continue
    const { calls } = await runServerStory(title, null)
    for (let call = 0; call <= calls; call++)
      for (const isDone of [true, false]) {
        if (at && (call !== Number(at) || String(isDone) !== done)) continue
        const outcome = await runServerStory(title, { call, isDone })
        const name = `--servers --kills='${title}:${call}:${isDone}'`
        tell(name, outcome, { more: '', isWhole: Boolean(at) })
      }
  }
}

type Told = { faults: string[]; trace: string[]; journal: string[] }

function tell(
  name: string,
  { faults, trace, journal }: Told,
  { more, isWhole }: { more: string; isWhole: boolean },
) {
  orders++
  if (faults.length > 0) bad++
  else if (!isTold) return
  console.log(`${name}: ${faults[0] ?? 'well'} | ${more}`)
  const said = journal.filter((line) => !line.includes('"message":"request"'))
  if (isWhole || isTold) console.log([...trace, ...said, ...faults].join('\n'))
}
