import { isAdmin } from '../accounts/store.ts'
import { appsAddress } from '../config.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { canonicalHost, isLoopback } from '../platform/hosts.ts'

/** Where the ports of apps and services are published, and what of it goes into their addresses. */
export type Places = Pick<Config, 'publishAddress' | 'url'> & {
  /** For who finds their apps on this machine only, though the setting says more; else null. */
  note: string | null
}

type PanelPlace = Pick<Config, 'publishAddress' | 'url' | 'host'>

/**
 * Where those of one user are published. Cookies know hosts, not ports: where the panel isn't on HTTPS
 * and the setting would have both on one host, that is for admins, who are trusted with the panel.
 */
export function placesOf({ config, db }: { config: Config; db: Db }, ownerId: string): Places {
  const { publishAddress, url } = config
  const isApart = sharesHost(config) && !isAdmin(db, ownerId)
  return isApart ? { publishAddress: appsAddress, url, note } : { publishAddress, url, note: null }
}

const note = `Published on ${appsAddress}, for this machine only: Davit isn’t reached by HTTPS, and apps on its own host could take logins. An admin can set DAVIT_URL to an https:// address.`

/** Whether a browser would send an app published as the setting says the panel's cookies. */
export function sharesHost({ publishAddress, url, host }: PanelPlace) {
  if (url?.protocol === 'https:' || publishAddress === appsAddress) return false
  if (!isLoopback(host) || (url && !isLoopback(url.hostname))) return true
  const own = ['127.0.0.1', '::1', '0.0.0.0', '::', host, url?.hostname ?? host].map(canonicalHost)
  return own.includes(canonicalHost(publishAddress))
}
