import { ownersOfHosts } from '../addresses/owner-store.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import type { Docker } from '../docker/index.ts'
import type { Edge } from '../edge/edge.ts'
import type { Host, Https } from '../edge/plan.ts'
import { Failure } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import { sleepUnlessWoken, unlessAborted } from '../platform/pause.ts'
import { CertificateBudget } from './certificate-budget.ts'
import { askForCertificate, issued, lastProblem, servedCertificate } from './certificate-ask.ts'
import {
  findCertificate,
  keepCertificates,
  listByTime,
  longestWait,
  resumePending,
  setCertificate,
} from './certificate-store.ts'
import type { Certificate } from './certificate-store.ts'
import {
  after,
  day,
  delayAfter,
  earliest,
  isLate,
  minute,
  otherAgain,
  waitingAgain,
} from './certificate-times.ts'
import { endNotices, noteOwn, noteStored, storeCertificate } from './certificate-notice.ts'
import { checkDns, troubleOf } from './dns-check.ts'
import type { DnsCheck } from './dns-check.ts'
import { edgeAddresses, publicAddresses } from './public-address.ts'

type KeeperDeps = {
  config: Pick<Config, 'acme' | 'domain' | 'edgePorts' | 'publicAddresses' | 'url'>
  db: Db
  docker: Docker
  edge: Pick<Edge, 'mode' | 'isKnown' | 'sync'>
  instanceId: string
  /** Replaces the system's resolvers in tests. */
  nameServers: string[] | null
  /** Everything the edge serves, according to the database. */
  hosts: () => Host[]
}

/** Hosts checked in parallel, in total and of one owner: a check can wait minutes for other servers. */
const atOnce = 6
const atOnceOfOwner = 4

/**
 * Makes Caddy get and renew the certificates of all hosts with automatic HTTPS: only for names that point to
 * this server, and less often after each failure. Its state is in the database.
 */
export class CertificateKeeper {
  readonly #kept: KeeperDeps
  readonly #budget: CertificateBudget
  readonly #busy = new Map<string, Promise<void>>()
  /** Hosts requested again during their check, which may have seen an older state. */
  readonly #again = new Set<string>()
  /** Hosts stored since the last look at what is due. */
  readonly #stored = new Set<string>()
  /** Hosts that are due, longest overdue first. */
  #queue: string[] = []
  /** By host, as of the last check: scanning all hosts to find one is too expensive. */
  #https = new Map<string, Https>()
  #owners = new Map<string, string | null>()
  #woken = Promise.withResolvers<void>()
  #expected: string[] | null = null

  constructor(kept: KeeperDeps) {
    this.#kept = kept
    this.#budget = new CertificateBudget(kept)
  }

  /** The addresses to which names of this server should point, as far as known. */
  get expected(): readonly string[] {
    const { publicAddresses: given } = this.#kept.config
    return this.#expected ?? (given.length > 0 ? given : edgeAddresses(this.#kept.db))
  }

  /** Call it when hosts were stored: checks them at once. */
  look(hosts: string[] = []) {
    for (const host of hosts) {
      this.#stored.add(host)
      if (this.#busy.has(host)) this.#again.add(host)
      const known = findCertificate(this.#kept.db, host)
      if (known) setCertificate(this.#kept.db, host, { nextTryAt: earliest(known, new Date()) })
    }
    this.#woken.resolve()
  }

  /** Checks a name now, and requests its certificate as soon as allowed. */
  async check(host: string, { signal }: { signal: AbortSignal }) {
    keepCertificates(this.#kept.db, this.#hosts(), new Date())
    await this.#lookUp(host, signal)
    this.look([host])
  }

  async run({ signal }: { signal: AbortSignal }) {
    resumePending(this.#kept.db)
    while (!signal.aborted) {
      this.#woken = Promise.withResolvers<void>() // before the check: later changes count
      const wait = this.#begin(signal)
      await sleepUnlessWoken(wait, { signal, wakers: [this.#woken.promise], ref: false })
    }
    await Promise.all(this.#busy.values())
  }

  /** Starts what is due. Returns the milliseconds until the next. */
  #begin(signal: AbortSignal) {
    const now = new Date()
    try {
      keepCertificates(this.#kept.db, this.#hosts(), now)
      endNotices(this.#kept.db, this.#owners, (host) => this.#https.get(host)?.kind !== 'off')
      if (this.#kept.edge.mode === 'caddy')
        noteStored(this.#kept.db, this.#stored, { https: this.#https, owners: this.#owners })
      this.#stored.clear()
      const { due, next } = listByTime(this.#kept.db, now)
      this.#queue = due.map(({ host }) => host).filter((host) => !this.#busy.has(host))
      this.#goOn(signal)
      return Math.min(Math.max((next?.getTime() ?? Infinity) - Date.now(), 1000), minute)
    } catch (error) {
      report('checking certificates failed', error)
      return minute
    }
  }

  #goOn(signal: AbortSignal) {
    while (this.#busy.size < atOnce && !signal.aborted) {
      const host = this.#nextDue()
      if (host === undefined) return
      this.#again.delete(host)
      const work = this.#tend(host, signal).finally(() => {
        this.#busy.delete(host)
        if (this.#queue.length > 0) this.#goOn(signal)
        else this.#woken.resolve()
      })
      this.#busy.set(host, work)
    }
  }

  /** Takes the next from the queue: of the owners with the fewest running checks, none of whom gets all. */
  #nextDue() {
    const load = (host: string) => {
      const owner = this.#owners.get(host)
      return [...this.#busy.keys()].filter((other) => this.#owners.get(other) === owner).length
    }
    const loads = this.#queue.map(load)
    const least = Math.min(...loads)
    return least < atOnceOfOwner ? this.#queue.splice(loads.indexOf(least), 1)[0] : undefined
  }

  async #tend(host: string, signal: AbortSignal) {
    try {
      const dns = await this.#lookUp(host, signal)
      const row = findCertificate(this.#kept.db, host)
      if (!row) return
      const https = this.#https.get(host)
      const isAuto = https?.kind === 'auto'
      const { edge } = this.#kept
      const isServed = () => edge.isKnown() && edge.mode !== 'direct' // else no certificate of it is known
      if (isAuto && !isServed()) await this.#inForce(signal) // it may be about to start
      if (!isAuto || !isServed()) this.#keepOther(host, https, dns)
      else if (edge.mode === 'external') await this.#readForeign(host, dns, signal)
      else if (row.status === 'issued') await this.#checkIssued(row, dns, signal)
      else if (dns.mayAsk) await this.#ask(row, dns, signal)
      else await this.#wait(row, dns, signal)
    } catch (error) {
      if (signal.aborted) return
      this.#set(host, { nextTryAt: after(minute) })
      if (!(error instanceof Failure && error.code === 'edge_unreachable'))
        report('checking a certificate failed', error, { host })
    }
  }

  /** Davit gets it no certificate, so a name that points elsewhere isn't a failure of one. */
  #keepOther(host: string, https: Https | undefined, dns: DnsCheck) {
    const { db, edge } = this.#kept
    const nextTryAt = this.#later(host, https?.kind === 'auto' ? waitingAgain : otherAgain)
    setCertificate(db, host, { ...troubleOf(dns), nextTryAt })
    const ownerId = this.#owners.get(host)
    if (https?.kind === 'own' && edge.mode === 'caddy' && ownerId !== undefined)
      noteOwn(db, host, { certificate: https.certificate, ownerId })
  }

  async #lookUp(host: string, signal: AbortSignal): Promise<DnsCheck> {
    const { config, db, nameServers } = this.#kept
    const own = edgeAddresses(db)
    const expected = await publicAddresses({ config, nameServers }, { own, signal })
    this.#expected = expected
    const dns = await checkDns(host, { expected, own, nameServers, signal })
    this.#set(host, { dnsFound: dns.found, dnsOk: dns.ok, checkedAt: new Date() })
    return dns
  }

  /** Requests no certificate for a name that points elsewhere: that only uses up the authority's limits. */
  async #wait({ host, status }: Certificate, dns: DnsCheck, signal: AbortSignal) {
    const nextTryAt = this.#later(host, waitingAgain)
    this.#set(host, { ...troubleOf(dns), status: 'waiting', nextTryAt })
    if (status === 'pending') await this.#inForce(signal)
  }

  /** Counts as failed until it is issued, so that restarts don't add requests. */
  async #ask({ host, failures, status }: Certificate, { expected }: DnsCheck, signal: AbortSignal) {
    const waits = this.#budget.take(this.#owners.get(host) ?? null, host)
    if (waits) {
      this.#set(host, waits)
      return status === 'pending' ? this.#inForce(signal) : undefined
    }
    const tries = failures + 1
    const none = { errorMessage: null, errorHint: null }
    const nextTryAt = after(delayAfter(tries))
    this.#set(host, { ...none, status: 'pending', failures: tries, nextTryAt })
    await this.#inForce(signal)
    const { https: port } = this.#kept.config.edgePorts
    const got = await askForCertificate(this.#kept, host, { port, signal }).catch((error) => {
      if (!signal.aborted) this.#set(host, { failures }) // nothing was requested
      throw error
    })
    if ('issuer' in got) this.#set(host, { ...issued(got), failures: 0 })
    else {
      const { authorityName, explain } = await import('./certificate-explain.ts')
      const authority = authorityName(this.#kept.config.acme.directory)
      const { message, hint, notBefore } = explain(got, { host, authority, expected })
      // the usual delay after a limit ends: `earliest` derives the end from it
      const afterLimit = notBefore ? notBefore.getTime() + delayAfter(tries) : 0
      const least = Math.max(nextTryAt.getTime(), afterLimit)
      this.#set(host, {
        ...{ status: 'failed', errorMessage: message, errorHint: hint },
        nextTryAt: new Date(Math.min(least, Date.now() + longestWait)),
      })
    }
    await this.#inForce(signal)
  }

  /** Connecting makes Caddy renew it in time. It stays allowed, or Caddy would drop it. */
  async #checkIssued(row: Certificate, dns: DnsCheck, signal: AbortSignal) {
    const { host } = row
    const { https: port } = this.#kept.config.edgePorts
    const served = await servedCertificate(host, { port, signal })
    if (!served || served.notAfter.getTime() <= Date.now()) {
      if (dns.mayAsk) await this.#ask(row, dns, signal)
      else await this.#wait({ ...row, status: 'pending' }, dns, signal)
      return
    }
    const trouble = isLate(served) ? await whyLate(this.#kept) : dns.mayAsk ? {} : troubleOf(dns)
    this.#set(host, { ...issued(served), ...trouble })

    async function whyLate(kept: KeeperDeps) {
      const since = new Date(Date.now() - day)
      const { authorityName, explain } = await import('./certificate-explain.ts')
      const problem = await lastProblem(kept, host, { since, signal })
      const authority = authorityName(kept.config.acme.directory)
      const why = problem && explain(problem, { host, authority, expected: dns.expected })
      const end = served!.notAfter.toISOString().slice(0, 10)
      return {
        errorMessage:
          `The certificate ends on ${end} and wasn’t renewed. ${why?.message ?? ''}`.trim(),
        errorHint: why?.hint ?? dns.trouble?.hint ?? 'See the log of Caddy’s container.',
      }
    }
  }

  /** The user's own Caddy gets certificates by itself. */
  async #readForeign(host: string, dns: DnsCheck, signal: AbortSignal) {
    const { https: port } = this.#kept.config.edgePorts
    const served = await servedCertificate(host, { port, signal })
    if (served && served.notAfter > new Date())
      this.#set(host, { ...issued(served), ...(dns.mayAsk ? {} : troubleOf(dns)) })
    else
      this.#set(host, {
        ...{ status: 'waiting', nextTryAt: this.#later(host, waitingAgain) },
        errorMessage: dns.trouble?.message ?? `Your Caddy has no certificate for ${host} yet.`,
        errorHint: dns.trouble?.hint ?? 'See its log.',
      })
  }

  #hosts() {
    this.#owners = ownersOfHosts(this.#kept.db, this.#kept.config)
    this.#https = new Map(this.#kept.hosts().map(({ name, https }) => [name, https]))
    return new Set(this.#https.keys())
  }

  /** A name that isn't ready is checked again at once if that was requested meanwhile. */
  #later = (host: string, wait: number) => (this.#again.delete(host) ? null : after(wait))

  #set(host: string, values: Partial<Certificate>) {
    storeCertificate(this.#kept.db, host, { values, ownerId: this.#owners.get(host) })
  }

  /** Resolves when the stored configuration is active. */
  #inForce = (signal: AbortSignal) => unlessAborted(this.#kept.edge.sync(), signal)
}
