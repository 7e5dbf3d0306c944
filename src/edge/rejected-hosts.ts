import { Failure } from '../platform/errors.ts'
import { listenAddress } from './configuration.ts'
import type { RejectedHost, Host, Listener, Plan } from './plan.ts'
import { listening } from './sockets.ts'

/** Milliseconds before a port that Caddy couldn't open is retried, although nothing seems to listen there. */
const portAgain = 30_000

type RejectionDeps = {
  /** The addresses of ports that Caddy listens on for Davit. */
  listening(options: { signal: AbortSignal }): Promise<string[]>
  /** Makes Caddy refuse a plan, either for its errors or for `noHandler` at its end. */
  tryOut(plan: Plan, options: { signal: AbortSignal }): Promise<void>
}

/**
 * Finds the parts of a plan that Caddy can't serve, so that it serves the rest: ports that another program
 * listens on, and hosts whose settings it refuses.
 */
export class RejectedHosts {
  readonly #asked: RejectionDeps
  /** Addresses on which Caddy itself listens. */
  #held = new Set<string>()
  readonly #ports = new Map<string, number>()
  readonly #hosts = new Map<string, { settings: string; failure: Failure }>()

  constructor(asked: RejectionDeps) {
    this.#asked = asked
  }

  /** The part of a plan that can be served, as far as is known. */
  async served(plan: Plan, { signal }: { signal: AbortSignal }) {
    const rejected: RejectedHost[] = []
    const hosts = plan.hosts.filter((host) => {
      const refused = this.#hosts.get(host.name)
      if (refused?.settings !== JSON.stringify(host)) return this.#hosts.delete(host.name) || true
      rejected.push({ host: host.name, failure: refused.failure })
      return false
    })
    const busy = await this.#busy(plan.listeners, signal)
    const listeners = plan.listeners.filter((listener) => {
      if (!busy.has(listener)) return true
      rejected.push({ port: listener.port, failure: portBusy(listener) })
      return false
    })
    return { served: { ...plan, hosts, listeners }, rejected }
  }

  /** Call it when Caddy has activated this plan. */
  holds({ listeners }: Plan) {
    this.#held = new Set(listeners.map(listenAddress))
  }

  /** Call it when Caddy isn't running: any listener is another program then. */
  holdsNothing() {
    this.#held.clear()
  }

  /** Finds the part of a plan that Caddy refused; false when it isn't a single part. */
  async learn(plan: Plan, refusal: Failure, { signal }: { signal: AbortSignal }) {
    const address = /listen\w* (?:tcp\d? )?(\S+:\d+): (?:bind|listen)/.exec(refusal.message)?.[1]
    const listener = plan.listeners.find((one) => listenAddress(one) === address)
    if (listener) {
      this.#ports.set(listenAddress(listener), performance.now() + portAgain)
      return true
    }
    if (await this.#refusal({ ...plan, hosts: [] }, signal)) return false
    const refused = await this.#refused(plan, plan.hosts, signal)
    for (const { host, failure } of refused)
      this.#hosts.set(host.name, { settings: JSON.stringify(host), failure })
    return refused.length > 0
  }

  async #busy(listeners: Listener[], signal: AbortSignal) {
    const unsure = listeners.filter((one) => !this.#held.has(listenAddress(one)))
    if (unsure.length === 0) return new Set()
    const isListening = await listening()
    const busy = unsure.filter(({ port, address }) => isListening(port, address))
    const held = busy.length > 0 ? await this.#asked.listening({ signal }).catch(() => []) : []
    for (const one of held) this.#held.add(one)
    const now = performance.now()
    const isHeld = (one: Listener) => this.#held.has(listenAddress(one))
    const isRefused = (one: Listener) => (this.#ports.get(listenAddress(one)) ?? 0) > now
    return new Set([...busy.filter((one) => !isHeld(one)), ...unsure.filter(isRefused)])
  }

  /** Searches by bisection: a user's text may make Caddy refuse one host, but never the others. */
  async #refused(
    plan: Plan,
    hosts: Host[],
    signal: AbortSignal,
  ): Promise<{ host: Host; failure: Failure }[]> {
    const failure = await this.#refusal({ ...plan, hosts }, signal)
    if (!failure) return []
    if (hosts.length === 1) return [{ host: hosts[0]!, failure: hostRefused(hosts[0]!, failure) }]
    const half = hosts.length >> 1
    const first = await this.#refused(plan, hosts.slice(0, half), signal)
    return [...first, ...(await this.#refused(plan, hosts.slice(half), signal))]
  }

  /** Null when Caddy would serve the plan. */
  async #refusal(plan: Plan, signal: AbortSignal): Promise<Failure | null> {
    try {
      await this.#asked.tryOut(plan, { signal })
      throw new Error('Caddy accepted a handler that doesn’t exist.')
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'edge_refused') throw error
      return error.message.includes(noHandler.handler) ? null : error
    }
  }
}

/** Ends every trial, so that it never becomes active: if the error names it, all before it was valid. */
export const noHandler = { handler: 'davit_none' }

const portBusy = ({ port }: Listener) =>
  new Failure(
    'edge_port',
    `Another program on this server listens on port ${port}, so no app can be reached there.`,
    'Stop it, or choose another port in the settings of the environment.',
  )

const hostRefused = ({ name }: Host, { message }: Failure) =>
  new Failure(
    'edge_host',
    `${name} isn’t served: ${message}`,
    'Check its certificate and its other settings. All other domains are served.',
  )

export const hostsOf = (rejected: RejectedHost[]) =>
  rejected.flatMap((one) => ('host' in one ? [one.host] : []))
