import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import type { OrderKind } from './run-orders.ts'
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

const { values: options } = parseArgs({
  options: {
    kills: { type: 'string' },
    edge: { type: 'boolean', default: false },
    servers: { type: 'boolean', default: false },
    orders: { type: 'string', multiple: true, default: [] },
    without: { type: 'string', default: '' },
    trace: { type: 'boolean', default: false },
  },
})
const without = options.without.split(',').filter(Boolean).map(Number)
let [orders, bad] = [0, 0]

if (options.kills !== undefined) await (options.servers ? runServerStories() : runStories())
for (const asked of options.orders) {
  const [seed, count, ...kinds] = asked.split(',') as [string, string, ...OrderKind[]]
  const run = { first: Number(seed), count: Number(count) }
  await (kinds.includes('servers') ? runServers(run) : runOrders(run, kinds))
}

const { user, system } = process.cpuUsage()
const rate = (orders * 1e6) / (user + system) // the clock would tell how busy the machine is
console.log(`${orders} orders, ${bad} bad, ${rate.toFixed(1)} a second of a processor`)
process.exit(bad > 0 ? 1 : 0)

type Run = { first: number; count: number }

async function runServers({ first, count }: Run) {
  for (let seed = first; seed < first + count; seed++) {
    const outcome = await runServerOrder(seed)
    const more = outcome.actions.join(', ')
    tell(`DAVIT_SEED=${seed} DAVIT_KINDS=servers`, outcome, { more, isWhole: count === 1 })
  }
}

async function runOrders({ first, count }: Run, kinds: OrderKind[]) {
  const has = (kind: OrderKind) => kinds.includes(kind)
  for (let seed = first; seed < first + count; seed++) {
    const outcome = await runOrder({
      seed,
      without,
      isCalm: has('calm'),
      isShort: has('short'),
      hasProcesses: has('processes'),
      hasEdge: has('edge') || has('watched') || has('shares'),
      hasShares: has('shares'),
      isWatched: has('watched'),
    })
    const kept = outcome.actions.filter((_, at) => !without.includes(at))
    tell(`DAVIT_SEED=${seed} DAVIT_KINDS=${kinds}`, outcome, {
      more: kept.join(', '),
      isWhole: count === 1,
    })
  }
}

/** Davit ends at every call of every story; `--kills=title:call:how` tells one of them. */
async function runStories() {
  const [only, at, asked] = options.kills!.split(':')
  for (const [title, story] of Object.entries(stories)) {
    if ((only && only !== title) || (story.isBehindEdge && !options.edge)) continue
    const { calls } = await runStory(story, null, { hasEdge: options.edge })
    for (let call = 0; call <= calls; call++)
      for (const how of ends) {
        if (at && (call !== Number(at) || how !== asked)) continue
        const outcome = await runStory(story, { call, how }, { hasEdge: options.edge })
        tell(`--kills='${title}:${call}:${how}'`, outcome, { more: '', isWhole: Boolean(at) })
      }
  }
}

/** Davit is killed at every call of what is done to an app on several servers. */
async function runServerStories() {
  const [only, at, done] = options.kills!.split(':')
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
  else if (!options.trace) return
  console.log(`${name}: ${faults[0] ?? 'well'} | ${more}`)
  const said = journal.filter((line) => !line.includes('"message":"request"'))
  if (isWhole || options.trace) console.log([...trace, ...said, ...faults].join('\n'))
}
