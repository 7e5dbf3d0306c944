import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pointTo, targetOf } from './links.ts'
import { logIn } from './logins.ts'
import { optionHandlers } from './options.ts'
import { isPlain, namesPath, pageAddress } from './plan.ts'
import type { Host } from './plan.ts'
import { nobody, setSlots } from './slots.ts'

type HostOptions = {
  /** The folder as Caddy sees it. */
  folderInside: string
  /** True when Caddy's configuration has all hosts except rejected ones. */
  isInForce?: boolean
  /** Names that Caddy rejects: they get the page for unknown hosts. */
  rejected?: string[]
}

/**
 * Links each plain host to its slots, whether or not it is in Caddy's configuration: a new one is found by
 * its name, and a removed one gets the page for unknown hosts. One with options, which a name alone doesn't
 * have, waits until the configuration has it; what had its name before is no longer found by it. Returns false
 * when one waits.
 */
export function setHosts(
  folder: string,
  wantedHosts: Host[],
  { folderInside, isInForce = true, rejected = [] }: HostOptions,
) {
  const hosts = hostsFolder(folder)
  const served = wantedHosts.filter(({ name }) => !rejected.includes(name))
  const wanted = new Map(served.flatMap(keysOf))
  setSlots(folder, nobody, [pageAddress(folderInside, 'nobody')])
  // the configuration may still have it
  for (const name of readdirSync(hosts)) if (!wanted.has(name)) link(hosts, name, nobody)
  const isLed = (name: string, key = wanted.get(name)) =>
    key !== undefined && targetOf(join(hosts, name)) === pathTo(key)
  const waits = (host: Host) => !isInForce && !isBare(host) && !isLed(host.name)
  const waiting = new Set(served.filter(waits).map(({ name }) => name))
  for (const [name, key] of wanted)
    if (!waiting.has(name)) link(hosts, name, key)
    else if (targetOf(join(hosts, name)) !== null) link(hosts, name, nobody)
  return waiting.size === 0
}

const isBare = ({ sites }: Host) =>
  sites.length === 1 && sites.every((site) => optionHandlers(site, logIn).length === 0)

/** Lists the hosts that Caddy may request certificates for, on the first connection, and renews in time. */
export const setCertificates = (folder: string, hosts: Host[]) =>
  setNames(
    namesPath(folder, 'certificates'),
    hosts.filter(({ https }) => https.kind === 'auto' && https.mayAsk),
  )

export const setRedirects = (folder: string, hosts: Host[]) =>
  setNames(
    namesPath(folder, 'redirects'),
    hosts.filter(({ https }) => https.kind !== 'off' && https.redirect),
  )

function setNames(place: string, hosts: Host[]) {
  mkdirSync(place, { recursive: true, mode: 0o700 })
  const wanted = new Set(hosts.map(({ name }) => name))
  for (const name of readdirSync(place)) if (!wanted.delete(name)) rmSync(join(place, name))
  for (const name of wanted) writeFileSync(join(place, name), '', { mode: 0o600 })
}

/** Removes the links of all other hosts. Call it once the active configuration has none of them. */
export function sweepHosts(folder: string, wantedHosts: Host[]) {
  const hosts = hostsFolder(folder)
  const wanted = new Map(wantedHosts.flatMap(keysOf))
  for (const name of readdirSync(hosts))
    if (!wanted.has(name) && targetOf(join(hosts, name)) === pathTo(nobody))
      rmSync(join(hosts, name))
}

const keysOf = ({ name, sites }: Host) =>
  sites.flatMap((site) =>
    isPlain(site) && 'slots' in site.target ? [[name, site.target.slots] as const] : [],
  )

function link(hosts: string, name: string, key: string) {
  const path = join(hosts, name)
  if (targetOf(path) !== pathTo(key)) pointTo(path, pathTo(key), join(hosts, '.link'))
}

const pathTo = (key: string) => `../slots/${key}`

function hostsFolder(folder: string) {
  const hosts = join(folder, 'hosts')
  mkdirSync(hosts, { recursive: true, mode: 0o700 })
  rmSync(join(hosts, '.link'), { force: true })
  return hosts
}
