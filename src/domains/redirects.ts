import type { Config } from '../config.ts'

export type RedirectSite = { host: string; path: string; redirectTo: string | null }

type RedirectAddress = { host: string; path: string }

/** Browsers follow no more. */
const mostHops = 20

/**
 * True when a request is redirected through this host in a loop, or more often than a browser follows. A loop
 * whose path grows with each round never repeats.
 */
export function isInCircle(
  sites: RedirectSite[],
  { host, ports }: { host: string; ports: Config['edgePorts'] },
) {
  const byHost = Map.groupBy(
    sites
      .map((site) => ({ ...site, prefix: prefixOf(site.path), target: targetOf(site.redirectTo) }))
      .toSorted((a, b) => b.path.length - a.path.length),
    (site) => site.host,
  )
  return [...byHost.values()]
    .flat()
    .some((site) => site.target && [site.host, site.target.host].includes(host) && circles(site))

  function circles(start: RedirectAddress) {
    let place: RedirectAddress | null = start
    for (let hops = 0; hops < mostHops && place; hops++) place = next(place)
    return place !== null
  }

  function next({ host, path }: RedirectAddress): RedirectAddress | null {
    const prefix = prefixOf(path)
    // the longest prefix wins, ignoring case
    const target = byHost.get(host)?.find((site) => prefix.startsWith(site.prefix))?.target
    return target
      ? { host: target.host, path: target.path + (path === '/' ? '' : path) || '/' }
      : null
  }

  function targetOf(redirectTo: string | null): RedirectAddress | null {
    const url = redirectTo ? URL.parse(redirectTo) : null
    if (!url) return null
    const [usual, own] = url.protocol === 'https:' ? [443, ports.https] : [80, ports.http]
    if (![usual, own].includes(Number(url.port || usual))) return null
    return { host: url.hostname.replace(/\.$/, ''), path: url.pathname.replace(/\/$/, '') }
  }
}

const prefixOf = (path: string) => (path === '/' ? '/' : `${path.toLowerCase()}/`)
