import { begunWith } from './beginnings.ts'
import { Installation, secrets } from './davit.ts'
import { Fleet, portsOf } from './fleet.ts'
import type { Fault, OtherServer } from './fleet.ts'
import { beforeStops } from './edge.ts'
import { Random } from './random.ts'
import { calm, Schedule } from './schedule.ts'
import { world } from './world.ts'

const replicas = 2

/** An app that runs twice, on the two servers beside Davit’s. */
const beginning = { settings: {}, isDeployed: false }

type Row = { id: string; project_id: string }

/** Rounds of a minute after which an order counts as one that never comes to rest. */
const maxMinutes = 60

/** Servers go away and come back, are drained and used again, and Davit is killed, as the seed decides. */
export async function runServerOrder(seed: number) {
  const order = await ServerOrder.begin(seed)
  const faults = await order.run()
  return { faults, trace: order.schedule.trace, journal: world.journal, actions: order.names }
}

/** What an admin or a user does to the app and its servers, for kills at each call that it takes. */
export const serverStories = {
  'a drain': (order: ServerOrder) => order.act(order.others[0]!, 'drain'),
  'a deployment': (order: ServerOrder) => order.deploy(),
  async 'a deployment to another server'(order: ServerOrder) {
    await order.put({ placement: { server: order.others[1]!.id } })
    await order.deploy()
  },
}

/** Davit is killed after so many calls, or never; how many there were. */
export async function runServerStory(
  title: keyof typeof serverStories,
  kill: { call: number; isDone: boolean } | null,
) {
  const order = await ServerOrder.begin(1)
  const { faults, calls } = await order.tell(serverStories[title], kill)
  return { faults, calls, trace: order.schedule.trace, journal: world.journal }
}

class ServerOrder {
  readonly names: string[] = []
  readonly schedule: Schedule
  readonly #installation: Installation
  readonly #fleet: Fleet
  readonly #chance: Random
  readonly #complaints: string[] = []

  private constructor(
    schedule: Schedule,
    installation: Installation,
    fleet: Fleet,
    chance: Random,
  ) {
    this.schedule = schedule
    this.#installation = installation
    this.#fleet = fleet
    this.#chance = chance
  }

  static async begin(seed: number) {
    const chance = new Random(seed)
    const schedule = new Schedule(new Random(seed + 0x5eed), calm)
    const begun = await begunWith(beginning)
    world.reset(seed, begun.now)
    begun.takeBack()
    begun.takeBack = begun.disk.remember()
    let fleet: Fleet | undefined
    const installation = new Installation(
      schedule,
      () => ({ command: ['sleep', '1000000'], health: ['CMD', 'true'] }),
      begun,
      { hasEdge: true, withServers: (...of) => (fleet = new Fleet(...of)) },
    )
    fleet!.store(installation.deps.db, secrets)
    await installation.kill() // it knows them from its start on
    const order = new ServerOrder(schedule, installation, fleet!, chance)
    order.#watchStops()
    await order.#rest()
    const placement = { labels: { zone: 'away' }, spread: 'servers' }
    await order.put({ placement, watchSeconds: 0, processes: [{ name: 'web', replicas }] })
    await order.deploy()
    await order.#rest()
    schedule.weather = { ...calm, choice: chance.pick(['any', 'newest', 'oldest']), haste: 0.05 }
    return order
  }

  get others() {
    return this.#fleet.others
  }

  async tell(
    act: (order: ServerOrder) => Promise<unknown>,
    kill: { call: number; isDone: boolean } | null,
  ) {
    const { schedule } = this
    schedule.weather = calm
    schedule.calls = 0
    await act(this)
    const until = world.now + 60_000
    while ((kill === null || schedule.calls < kill.call) && (await schedule.step({ until })))
      continue
    if (kill) {
      schedule.lastCallsAreDone = kill.isDone
      this.schedule.say('* kill')
      await this.#installation.kill()
    }
    const { calls } = schedule
    const faults = (await this.#rest()) ? [] : ['It never comes to rest.']
    return { faults: [...faults, ...this.#faults()], calls }
  }

  async run() {
    const faults = this.#faults()
    if (faults.length > 0) return ['before anything befell it', ...faults]
    const count = 3 + this.#chance.below(6)
    for (let at = 0; at < count; at++) {
      const { name, run } = this.#chance.weighed(this.#actions)
      this.names.push(name)
      this.schedule.say(`* ${name}`)
      await run()
      await this.#pass(this.#chance.pick([0, 500, 5000, 20_000, 60_000]))
    }
    this.schedule.weather = calm
    for (const other of this.#fleet.others) {
      this.#fleet.recover(other)
      await this.act(other, 'activate')
    }
    if (!(await this.#rest())) return ['It never comes to rest.', ...this.#faults()]
    const found = this.#faults()
    if (found.length > 0) return found
    await this.#installation.kill()
    await this.#rest()
    return this.#faults().map((fault) => `after a start: ${fault}`)
  }

  get #actions() {
    const befall = (fault: Fault) => ({
      ...{ name: fault, weight: 3 },
      run: async () => this.#fleet.befall(this.#chance.pick(this.#fleet.others), fault),
    })
    return [
      ...(['dead', 'cut', 'refused'] as const).map(befall),
      {
        ...{ name: 'back', weight: 5 },
        run: async () => this.#fleet.recover(this.#chance.pick(this.#fleet.others)),
      },
      ...(['drain', 'activate'] as const).map((verb) => ({
        ...{ name: verb, weight: 2 },
        run: () => this.act(this.#chance.pick(this.#fleet.others), verb),
      })),
      { name: 'deploy', weight: 3, run: () => this.deploy() },
      { name: 'restart', weight: 1, run: () => this.#ofApp('restart') },
      { name: 'kill', weight: 3, run: () => this.#installation.kill() },
    ]
  }

  #environment = () => this.#installation.rows<Row>('SELECT id, project_id FROM environments')[0]!

  async #send(method: string, path: string, body: object = {}) {
    const { starts } = this.#installation
    this.schedule.say(`> ${method} ${path}`)
    void this.#installation.send(method, path, body).then(async (response) => {
      if (this.#installation.starts !== starts || response.status < 500) return
      const text = await response.text()
      if (![503, 504].includes(response.status))
        this.#complaints.push(`${method} ${path} answered ${response.status}: ${text}`)
    })
    await world.settle()
  }

  put(changes: object) {
    const { id, project_id } = this.#environment()
    return this.#send('PUT', `/projects/${project_id}/envs/${id}`, changes)
  }

  deploy = () => this.#send('POST', `/projects/${this.#environment().project_id}/deployments`)

  #ofApp = (verb: string) => this.#send('POST', `/envs/${this.#environment().id}/${verb}`)

  act = ({ id }: OtherServer, verb: string) => this.#send('POST', `/settings/servers/${id}/${verb}`)

  /** Lets so many milliseconds go by. */
  async #pass(milliseconds: number) {
    const until = world.now + milliseconds
    while (await this.schedule.step({ until })) continue
    world.now = Math.max(world.now, until)
  }

  /** Returns false when it doesn't come to rest. */
  async #rest() {
    for (let minutes = 0; minutes < maxMinutes; minutes++) {
      await this.#pass(60_000)
      const busy =
        "SELECT 1 FROM jobs UNION SELECT 1 FROM servers WHERE last_seen_at IS NOT NULL UNION SELECT 1 FROM instances WHERE state IN ('draining', 'creating', 'starting')"
      if (this.#installation.rows(busy).length === 0) return true
    }
    return false
  }

  /** No request may reach what Davit stops. */
  #watchStops() {
    for (const { engine } of this.#fleet.others)
      beforeStops(engine, (container) => {
        const to = [...this.#installation.led!.values()].flat()
        if (portsOf(container).some((port) => to.includes(port)))
          this.#complaints.push(`${container.name} was stopped while requests reached it`)
      })
  }

  /** The app runs twice, where the database says, on servers that it may run on, and nothing else is left. */
  #faults() {
    const faults = [...this.#complaints]
    const { engine } = this.#installation
    const live = this.#installation.rows<{ container_id: string; server_id: string }>(
      "SELECT container_id, server_id FROM instances WHERE state = 'live'",
    )
    const all = this.#fleet.containers()
    if (live.length !== replicas) faults.push(`${live.length} containers should run`)
    for (const { container_id, server_id } of live) {
      const found = all.find(({ container }) => container.id === container_id)
      if (!found) faults.push(`a container that should run isn’t there`)
      else if (found.other.id !== server_id || found.container.state !== 'running')
        faults.push(`${found.container.name} is ${found.container.state} on ${found.other.address}`)
    }
    const known = this.#installation
      .rows<{ container_id: string }>("SELECT container_id FROM instances WHERE state <> 'removed'")
      .map(({ container_id }) => container_id)
    const everywhere = [...all.map(({ container }) => container), ...engine.containers.values()]
    for (const { id, name, state } of everywhere)
      if (!known.includes(id)) faults.push(`${name} (${state}) is left over`)
    const odd = this.#installation.rows<{ state: string }>(
      "SELECT state FROM instances WHERE state NOT IN ('live', 'standby', 'removed')",
    )
    for (const { state } of odd) faults.push(`an instance is ${state}`)
    const serving = live.flatMap(({ container_id }) => {
      const found = all.find(({ container }) => container.id === container_id)
      return found ? portsOf(found.container) : []
    })
    const led = this.#installation.led!.get(this.#environment().id) ?? []
    if (led.toSorted().join() !== serving.toSorted().join())
      faults.push(`requests reach ${led.join() || 'nothing'}, not ${serving.join()}`)
    return faults
  }
}
