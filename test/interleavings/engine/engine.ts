import { EngineError } from '../../../src/docker/index.ts'
import type { ContainerOptions, EngineEvent, RestartPolicy } from '../../../src/docker/index.ts'
import { isWithin, nextAddress, takenOn } from './addresses.ts'
import { Objects } from './objects.ts'
import { behaviourOf, mayStart } from './state.ts'
import type { FakeContainer } from './state.ts'

/** Milliseconds before the engine starts a container again; doubled each time. */
const firstBackoff = 100

/**
 * An engine in memory that obeys the real one's rules, as far as the product meets them: see the
 * scenarios that both are held to. All its answers come at once; who paces them stands before it.
 */
export class FakeEngine extends Objects {
  readonly listeners = new Set<(event: EngineEvent) => void>()
  /** Ports of the host that something other than the engine listens on. */
  readonly portsOfOthers = new Set<number>()
  create(options: ContainerOptions) {
    const image = this.image(options.image)
    if (!image) throw new EngineError(404, `No such image: ${options.image}`)
    const other = this.containers.values().find(({ name }) => name === options.name)
    if (other)
      throw new EngineError(
        409,
        `Conflict. The container name "/${options.name}" is already in use by container "${other.id}". You have to remove (or rename) that container to be able to reuse that name.`,
      )
    const { granted = {}, networkAliases: aliases = [] } = options
    const network = granted.hostNetwork ? 'host' : options.network
    const wanted = options.address ?? null
    for (const { name } of options.volumes ?? [])
      if (!this.volumes.has(name)) this.volumes.set(name, { name, labels: {} })
    const container: FakeContainer = {
      id: this.newId(),
      name: options.name,
      options,
      imageId: image.id,
      command: options.command ?? image.command,
      state: 'created',
      exitCode: 0,
      error: null,
      createdAt: this.clock.now(),
      startedAt: null,
      finishedAt: null,
      restartCount: 0,
      policy: options.restart ?? { name: 'no' },
      stoppedByHand: false,
      health: null,
      endpoints: new Map([[network, { aliases, wanted, address: null }]]),
      held: [],
      files: [],
      timers: [],
      waiting: new Set(),
    }
    behaviourOf(container.command) // refused now, where the test stands that asks for it
    this.containers.set(container.id, container)
    this.tell(container, 'create')
    return container.id
  }

  start(id: string) {
    const container = this.container(id)
    if (container.state === 'running' || container.state === 'restarting') return // by itself
    container.stoppedByHand = false
    container.restartCount = 0
    this.#launch(container)
  }

  #launch(container: FakeContainer) {
    try {
      this.#join(container)
      this.#publish(container)
      if (behaviourOf(container.command).endsAfter === null)
        throw Object.assign(
          new EngineError(400, `exec: "${container.command[0]}": stat: no such file or directory`),
          { exitCode: 127 },
        )
    } catch (error) {
      this.#leave(container)
      container.error = (error as Error).message
      if (container.state === 'created')
        container.exitCode = (error as { exitCode?: number }).exitCode ?? 128
      else container.state = 'exited'
      throw error
    }
    Object.assign(container, { state: 'running', exitCode: 0, error: null })
    container.startedAt = this.clock.now()
    const { endsAfter, exitCode } = behaviourOf(container.command)
    if (endsAfter !== Infinity)
      this.#later(container, endsAfter!, () => this.#end(container, exitCode))
    this.#checkHealth(container)
    this.tell(container, 'start')
  }

  #join(container: FakeContainer) {
    for (const [name, endpoint] of container.endpoints) {
      if (name === 'host' || name === 'none') continue
      const network = this.network(name)
      if (!network) throw new EngineError(404, `network ${name} not found`)
      const taken = takenOn(network, this.containers.values())
      const { wanted } = endpoint
      if (wanted && !isWithin(network.subnet, wanted))
        throw new EngineError(400, `invalid address ${wanted}: no configured subnet contains it`)
      if (wanted && taken.has(wanted)) throw new EngineError(403, 'Address already in use')
      endpoint.address = wanted ?? nextAddress(network, taken)
    }
  }

  #publish(container: FakeContainer) {
    const { ports = [], granted = {} } = container.options
    if (granted.hostNetwork) return
    for (const { container: inside, host: asked, address, protocol = 'tcp' as const } of ports) {
      const host = asked || this.#freePort()
      const what = `failed programming external connectivity on endpoint ${container.name} (${container.id})`
      if (this.portsOfOthers.has(host))
        throw new EngineError(
          500,
          `driver ${what}: Error starting userland proxy: listen ${protocol}4 ${address}:${host}: bind: address already in use`,
        )
      const isHeld = [...this.containers.values()].some(({ held }) =>
        held.some(
          (port) => port.host === host && port.protocol === protocol && meet(port, { address }),
        ),
      )
      if (isHeld)
        throw new EngineError(
          500,
          `driver ${what}: Bind for ${address}:${host} failed: port is already allocated`,
        )
      container.held.push({ container: inside, protocol, host, address })
    }
  }

  #freePort() {
    const held = new Set(
      [...this.containers.values()].flatMap((one) => one.held.map((p) => p.host)),
    )
    for (let port = 32_768; ; port++) if (!held.has(port)) return port
  }

  #leave(container: FakeContainer) {
    for (const endpoint of container.endpoints.values()) endpoint.address = null
    container.held = []
    for (const stop of container.timers.splice(0)) stop()
  }

  /** Its process has ended, for whatever reason; the engine may start it again. */
  #end(container: FakeContainer, exitCode: number) {
    this.#leave(container)
    container.finishedAt = this.clock.now()
    container.exitCode = exitCode
    if (container.health) container.health = 'unhealthy'
    const again = this.#isToRestart(container)
    container.state = again ? 'restarting' : 'exited'
    this.tell(container, 'die', { exitCode: String(exitCode) })
    if (again) {
      const wait = firstBackoff * 2 ** Math.min(container.restartCount, 9)
      this.#later(container, wait, () => this.#startAgain(container))
    } else this.#wakeWaiting(container)
  }

  #isToRestart(container: FakeContainer) {
    return !container.stoppedByHand && mayStart(container)
  }

  #startAgain(container: FakeContainer) {
    container.restartCount++
    try {
      this.#launch(container)
    } catch {
      this.#wakeWaiting(container) // it stays down
    }
  }

  #wakeWaiting(container: FakeContainer) {
    for (const wake of [...container.waiting]) wake()
  }

  stop(id: string) {
    const container = this.container(id)
    const { state } = container
    if (state !== 'running' && state !== 'restarting' && state !== 'paused') return
    container.stoppedByHand = true
    const { stubborn } = behaviourOf(container.command)
    if (state !== 'restarting') {
      this.tell(container, 'kill')
      this.#end(container, stubborn ? 137 : 143)
    } else {
      this.#leave(container)
      container.state = 'exited'
      this.#wakeWaiting(container)
    }
    this.tell(container, 'stop')
  }

  restart(id: string) {
    const container = this.container(id)
    this.stop(container.id)
    this.start(container.id)
    this.tell(container, 'restart')
  }

  /** SIGKILL from outside: the engine takes it for a crash. */
  kill(id: string) {
    if (this.container(id).state === 'running') this.#end(this.container(id), 137)
  }

  setPolicy(id: string, policy: RestartPolicy) {
    this.tell(Object.assign(this.container(id), { policy }), 'update')
  }

  remove(id: string, { force }: { force: boolean }) {
    const container = this.container(id)
    const { state } = container
    if ((state === 'running' || state === 'restarting' || state === 'paused') && !force)
      throw new EngineError(
        409,
        `You cannot remove a running container ${container.id}. Stop the container before attempting removal or force remove`,
      )
    container.stoppedByHand = true
    if (state === 'running' || state === 'paused') {
      this.tell(container, 'kill')
      this.#end(container, 137)
    }
    this.#leave(container)
    this.containers.delete(container.id)
    this.#wakeWaiting(container)
    this.tell(container, 'destroy')
  }

  /** All end and, where their policy says so, start again, also what was stopped: as when the engine is restarted. */
  reboot() {
    for (const container of this.containers.values()) {
      const ran = ['running', 'restarting', 'paused'].includes(container.state)
      if (ran) {
        this.#leave(container)
        Object.assign(container, { state: 'exited', exitCode: 137, finishedAt: this.clock.now() })
        this.#wakeWaiting(container)
      }
      const { policy, stoppedByHand, startedAt } = container
      if (startedAt && mayStart(container) && !(policy.name === 'unless-stopped' && stoppedByHand))
        try {
          this.#launch(container)
        } catch {
          // its error is in its state
        }
    }
  }

  /** Calls back at the end of a container, or now when it does not run; answers how to stop waiting. */
  onEnd(id: string, done: () => void) {
    const container = this.container(id)
    if (!['running', 'restarting', 'paused'].includes(container.state)) return (done(), () => {})
    const wake = () => {
      container.waiting.delete(wake)
      done()
    }
    container.waiting.add(wake)
    return () => void container.waiting.delete(wake)
  }

  tell({ id, name, options }: FakeContainer, action: string, more: Record<string, string> = {}) {
    const attributes = { ...options.labels, image: options.image, name, ...more }
    const time = new Date(this.clock.now())
    for (const hear of [...this.listeners])
      hear({ serverId: this.serverId, type: 'container', action, id, attributes, time })
  }

  #checkHealth(container: FakeContainer) {
    const check = container.options.healthCheck
    const test = check?.disabled ? null : (check?.test ?? this.healthTest(container))
    if (!test) return
    const { interval = 30_000, retries = 3 } = check?.disabled ? {} : (check ?? {})
    container.health = 'starting'
    const passes = test.join(' ') === 'CMD true'
    this.#later(container, (interval || 30_000) * (passes ? 1 : retries), () => {
      container.health = passes ? 'healthy' : 'unhealthy'
      this.tell(container, `health_status: ${container.health}`)
    })
  }

  /** What its own options or its image check it with. */
  healthTest({ options, imageId }: FakeContainer) {
    const { healthCheck: check } = options
    if (check?.disabled) return null
    return check?.test ?? this.images.get(imageId)?.health ?? null
  }

  #later(container: FakeContainer, milliseconds: number, work: () => void) {
    const { timers } = container
    const cancel = this.clock.after(milliseconds, () => {
      timers.splice(timers.indexOf(cancel), 1)
      work()
    })
    timers.push(cancel)
  }
}

const meet = (a: { address: string }, b: { address: string }) =>
  a.address === b.address || [a.address, b.address].some((one) => one === '0.0.0.0' || one === '')
