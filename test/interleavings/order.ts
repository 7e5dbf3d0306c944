import { actions } from './actions.ts'
import type { Action } from './actions.ts'
import { anApp, apps, beginnings, begunWith, withApp, withProcesses } from './beginnings.ts'
import type { Beginning } from './beginnings.ts'
import { faultsOf } from './check.ts'
import { Installation } from './davit.ts'
import type { Builder } from './engine/docker.ts'
import { beforeStops, keysTo } from './edge.ts'
import { Random } from './random.ts'
import { calm, Schedule } from './schedule.ts'
import type { Weather } from './schedule.ts'
import { endShares, isShared, sharesPlan, sharing, withShares } from './shares.ts'
import { aWatchedApp, watchedPlan } from './watched.ts'
import { world } from './world.ts'

/** Steps after which an order counts as one that never comes to rest. */
const maxSteps = 20_000

/** Milliseconds that nothing must happen in, before an order counts as over. */
const quietTime = 10_000

export type Outcome = {
  /** What does not hold; empty when all is well. */
  faults: string[]
  actions: string[]
  trace: string[]
  journal: string[]
}

export type Options = {
  seed: number
  /** Places of actions that are left out, to find those that matter. */
  without?: number[]
  /** No call fails. */
  isCalm?: boolean
  /** Two deployments, a cancel, a rollback, a deletion, a stop and a change, in any order. */
  isShort?: boolean
  /** Its app has several processes. */
  hasProcesses?: boolean
  /** An edge leads to its apps. */
  hasEdge?: boolean
  /** Versions are watched, and many of them crash; an edge leads to them. */
  isWatched?: boolean
  /** New versions get a share of the requests; an edge leads to them. */
  hasShares?: boolean
}

/** What users do to one installation, and what else befalls it, in an order that the seed decides. */
export async function runOrder({
  seed,
  without = [],
  isCalm = false,
  isShort = false,
  hasProcesses = false,
  isWatched = false,
  hasShares = false,
  hasEdge = isWatched || hasShares,
}: Options): Promise<Outcome> {
  const chance = new Random(seed)
  const weather = weatherOf(chance, isCalm)
  const builds = new Random(seed + 0xb01d)
  const ofApp = hasShares ? withShares : isShort || isWatched ? withApp : beginnings
  const from = chance.pick(hasProcesses ? withProcesses : ofApp)
  const build = () => (isWatched ? aWatchedApp : anApp)(builds)
  const order = await Order.begin(from, { seed, build, hasEdge })
  const usual = () => (isShort ? chance.shuffled(few) : planOf(chance))
  const chosen = hasShares ? sharesPlan(chance) : isWatched ? watchedPlan(chance) : usual()
  const plan = chosen.map((action) => ({
    action,
    seed: chance.below(2 ** 31),
  }))
  order.schedule.weather = weather
  const expedite = chance.pick([0.03, 0.1, 0.4, 2])
  for (const [at, { action, seed }] of plan.entries()) {
    if (without.includes(at)) continue
    while (!chance.chance(expedite / (expedite + 1))) await order.step()
    await order.begin(action, new Random(seed))
  }
  const faults = await order.end()
  const { trace } = order.schedule
  return { faults, actions: plan.map(({ action }) => action.name), trace, journal: world.journal }
}

export type Story = {
  beginning: Beginning
  /** Names of actions, one after the other's end. */
  acts: string[]
  app?: keyof typeof apps
  isBehindEdge?: true
}

/**
 * An end of Davit at a call of the engine: a kill, after which that is still done or not, or a stop. Killed
 * twice, the next one dies after as many calls, from its start or from when it takes up the work again, so
 * that work is given up.
 */
export type End = { call: number; how: (typeof ends)[number] }

export const ends = [
  'killed, call done',
  'killed',
  'killed twice',
  'killed twice at work',
  'stopped',
] as const

const takenUpAgain = "SELECT 1 FROM jobs WHERE status = 'running' AND attempt > 1"

/** What users do, one thing after another, with one end of Davit in between; how many calls it took. */
export async function runStory(story: Story, end: End | null, { hasEdge = false } = {}) {
  const build = () => apps[story.app ?? 'well']
  const order = await Order.begin(story.beginning, { seed: 1, build, hasEdge })
  const { schedule } = order
  schedule.calls = 0
  order.davitEnds = end
  for (const act of story.acts) {
    await order.begin({ ...actions, ...sharing }[act]!, new Random(2))
    await order.finish({ leavesShares: true })
  }
  const { calls } = schedule
  const faults = await order.end()
  return { faults, calls, trace: schedule.trace, journal: world.journal }
}

export class Order {
  readonly installation: Installation
  readonly schedule: Schedule
  /** What went wrong with requests and with the course of things. */
  readonly complaints: string[] = []
  /** Containers that someone stopped or started by themselves, so that an app may be down. */
  readonly touched = new Set<string>()
  stuck: string[] | null = null
  /** Whether a call failed for good before all was calm, so that an undo may have failed. */
  hadErrors = false
  /** Where Davit is to end, and start again. */
  davitEnds: End | null = null
  /** After so many calls Davit is killed, once it works on what it has taken up again. */
  #secondKill: number | null = null
  #steps = 0

  constructor(installation: Installation, schedule: Schedule) {
    this.installation = installation
    this.schedule = schedule
  }

  /** With an installation that has what is asked for, and is at rest. */
  static async begin(
    beginning: Story['beginning'],
    { seed, build, hasEdge }: { seed: number; build: Builder; hasEdge: boolean },
  ) {
    const schedule = new Schedule(new Random(seed + 0x5eed), calm)
    const begun = await begunWith(beginning)
    world.reset(seed, begun.now)
    begun.takeBack()
    begun.takeBack = begun.disk.remember()
    const order = new Order(new Installation(schedule, build, begun, { hasEdge }), schedule)
    order.#watchEdge()
    await order.finish()
    return order
  }

  /** No request may reach what Davit stops. */
  #watchEdge() {
    const { engine, led } = this.installation
    if (!led) return
    beforeStops(engine, (container) => {
      if (this.touched.has(container.id)) return
      const { 'davit.environment': id } = container.options.labels ?? {}
      const kept = `SELECT 1 FROM environments e JOIN projects p ON p.id = e.project_id WHERE e.id = '${id}' AND e.deleting_at IS NULL AND p.deleting_at IS NULL`
      if (keysTo(led, container).length > 0 && this.installation.rows(kept).length > 0)
        this.complaints.push(`${container.name} was stopped while requests reached it`)
    })
  }

  /** Lets everything come to rest, and says what does not hold then, and after a start in calm weather. */
  async end() {
    await this.finish()
    this.hadErrors = this.schedule.faults.errors > 0
    const faults = this.stuck ?? faultsOf(this, { isStrict: false })
    if (faults.length > 0) return faults
    this.schedule.say('--- killed and started, in calm weather')
    this.schedule.faults.errors = this.schedule.faults.breaks = 0
    await this.installation.kill()
    await this.finish()
    return this.stuck ?? faultsOf(this, { isStrict: true })
  }

  /** Asks Davit for something; nobody waits for the answer. */
  async request(
    method: 'POST' | 'PUT' | 'DELETE',
    path: string,
    body: Record<string, unknown> = {},
  ) {
    const { installation, schedule } = this
    const { starts } = installation
    schedule.say(`> ${method} ${path} ${JSON.stringify(body)}`)
    installation.pending++
    void installation.send(method, path, body).then(async (response) => {
      if (installation.starts !== starts) return // it was killed, and nobody heard this
      installation.pending--
      const { status } = response
      const text = status < 400 ? '' : (await response.text()).slice(0, 300)
      schedule.say(`< ${status} ${method} ${path} ${text}`)
      const isExcused = schedule.faults.errors + schedule.faults.breaks > 0 || this.touched.size > 0
      if (status >= 500 && ![503, 504].includes(status) && !isExcused)
        this.complaints.push(`${method} ${path} answered ${status}: ${text}`)
    })
    await world.settle()
  }

  /** A user asks Davit to stop the containers with this label. */
  touchAll(label: string, value: string) {
    for (const { id, options } of this.installation.engine.containers.values())
      if (options.labels?.[label] === value) this.touched.add(id)
  }

  async begin(action: Action, chance: Random) {
    this.schedule.say(`* ${action.name}`)
    await action.run(this, chance)
    await world.settle()
  }

  async step(until = world.now + 2000) {
    if (++this.#steps > maxSteps) this.stuck = ['It never comes to rest.']
    const { davitEnds: end, schedule } = this
    if (end && schedule.calls >= end.call) {
      const again = schedule.calls + end.call
      this.davitEnds = end.how === 'killed twice' ? { call: again, how: 'killed' } : null
      this.#secondKill = end.how === 'killed twice at work' ? end.call : null
      schedule.lastCallsAreDone = end.how === 'killed, call done'
      await actions[end.how === 'stopped' ? 'restart' : 'kill']!.run(this, schedule.random)
    }
    if (this.#secondKill !== null && this.installation.rows(takenUpAgain).length > 0) {
      this.davitEnds = { call: schedule.calls + this.#secondKill, how: 'killed' }
      this.#secondKill = null
    }
    return !this.stuck && (await this.schedule.step({ until }))
  }

  /** Lets all that was begun come to its end. */
  async finish({ leavesShares = false } = {}) {
    const { schedule } = this
    schedule.isAway = false
    schedule.weather = { ...calm, choice: schedule.weather.choice }
    await world.settle()
    for (let rest = world.now + quietTime; ;) {
      if (!leavesShares) await endShares(this)
      else if (isShared(this)) return
      if (!(await this.step(rest))) {
        if (this.stuck || world.now >= rest || schedule.nextAt > rest) {
          if (this.stuck || !this.isBusy() || schedule.nextAt === Infinity) return // the check tells
          rest = schedule.nextAt + quietTime
        }
      } else if (schedule.turns.length > 0) rest = world.now + quietTime
    }
  }

  isBusy() {
    if (this.installation.pending > 0) return true
    const { installation } = this
    const leaving =
      "SELECT container_id, state FROM instances WHERE state IN ('draining', 'standby')"
    // what is kept runs until the watch of the next release and its own requests have ended
    const isLeaving = installation
      .rows<{ container_id: string; state: string }>(leaving)
      .some(({ container_id, state }) => {
        const kept = installation.engine.containers.get(container_id)
        return (
          state === 'draining' || kept?.state === 'running' || (kept?.policy.name ?? 'no') !== 'no'
        )
      })
    const work = 'SELECT 1 FROM jobs UNION SELECT 1 FROM deployments WHERE watch_until IS NOT NULL'
    return (installation.led && isLeaving) || installation.rows(work).length > 0
  }
}

const weatherOf = (chance: Random, isCalm: boolean): Weather => ({
  errors: isCalm ? 0 : chance.pick([0, 0, 0, 0.01, 0.05]),
  breaks: isCalm ? 0 : chance.pick([0, 0, 0, 0.02]),
  lateAnswers: chance.pick([0, 0.3]),
  choice: chance.pick(['any', 'any', 'oldest', 'newest', 'priority']),
  haste: chance.pick([0.002, 0.05, 0.3]),
})

const few = [
  actions.deploy!,
  actions.deploy!,
  actions.cancel!,
  actions.rollBack!,
  actions.deleteEnvironment!,
  actions.stopContainer!,
  actions.changeSettings!,
  actions.apply!,
  actions.restartApp!,
]

function planOf(chance: Random) {
  const count = 2 + chance.below(6)
  return Array.from({ length: count }, () => chance.weighed(Object.values(actions)))
}
