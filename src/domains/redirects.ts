import type { Config } from '../config.ts'

/** A path of a host, and where it redirects to. */
export type RedirectSite = { host: string; path: string; redirectTo: string | null }

/** More than anyone has; a loop whose path grows with each round never repeats. */
const mostHops = 30

/** Whether these redirects contain a loop through this host. */
export function isInCircle(
  sites: RedirectSite[],
  { host, ports }: { host: string; ports: Config['edgePorts'] },
) {
  const byHost = Map.groupBy(sites, (site) => site.host)
  return sites.some((start) => start.redirectTo !== null && circles(start))

  function circles(start: RedirectSite) {
    let place: Place | null = { host: start.host, path: start.path }
    let touches = false
    for (let hops = 0; hops < mostHops; hops++) {
      touches ||= place.host === host
      place = next(place)
      if (!place) return false
    }
    return touches
  }

  /** Where a request is redirected; null when it is served, or leaves these hosts. */
  function next({ host, path }: Place): Place | null {
    const to = siteAt(byHost.get(host) ?? [], path)?.redirectTo
    const url = to ? URL.parse(to) : null
    if (!url) return null
    const [usual, own] = url.protocol === 'https:' ? [443, ports.https] : [80, ports.http]
    if (![usual, own].includes(Number(url.port || usual))) return null
    const prefix = url.pathname.replace(/\/$/, '')
    return {
      host: url.hostname.replace(/\.$/, ''),
      path: prefix + (path === '/' ? '' : path) || '/',
    }
  }
}

type Place = { host: string; path: string }

/** The longest prefix wins, ignoring case. */
const siteAt = (sites: RedirectSite[], path: string) =>
  sites
    .filter(
      (site) =>
        site.path === '/' || `${path}/`.toLowerCase().startsWith(`${site.path}/`.toLowerCase()),
    )
    .toSorted((a, b) => b.path.length - a.path.length)[0]
