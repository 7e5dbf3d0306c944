import { isAdmin } from '../accounts/store.ts'
import { appsAddress } from '../config.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { remoteHost } from '../docker/index.ts'
import { canonicalHost, isAnyAddress, isLoopback } from '../platform/hosts.ts'
import { firstServer } from '../platform/root.ts'
import { getServer } from '../servers/store.ts'

/** Where the ports of apps and services are published, and the host in their addresses. */
export type Places = Pick<Config, 'publishAddress' | 'url'> & {
  remote: string | null
  /** Explains why apps are only reachable from one machine although the setting says more; null otherwise. */
  note: string | null
  /** Of another server, whose ports can’t be looked at from here. */
  isElsewhere?: true
}

type PanelPlace = Pick<Config, 'publishAddress' | 'url' | 'host' | 'dockerHost'>

/**
 * Where the ports of one user are published. Cookies are per host, not per port: when the panel isn't on
 * HTTPS and the setting puts both on one host, only admins, who are trusted with the panel, publish there.
 * Another server is another host: ports are published at its address.
 */
export function placesOf(
  { config, db }: { config: Config; db: Db },
  ownerId: string,
  serverId = firstServer,
): Places {
  const { url, dockerHost } = config
  const server = serverId === firstServer ? undefined : getServer(db, serverId)
  if (server)
    return { publishAddress: server.address, url, remote: null, note: null, isElsewhere: true }
  const isApart = sharesHost(config) && !isAdmin(db, ownerId)
  const publishAddress = isApart ? appsAddress : config.publishAddress
  const remote = remoteHost(dockerHost)
  const isHidden = remote !== null && isLoopback(publishAddress)
  const note = isApart ? noteApart(remote) : isHidden ? noteRemote(publishAddress, remote) : null
  return { publishAddress, url, remote, note }
}

const noteApart = (remote: string | null) =>
  `Published on ${appsAddress}, for ${remote ?? 'this machine'} only: Davit isn’t served over HTTPS, and apps on its host could steal logins. An admin can set DAVIT_URL to an https:// address.`

const noteRemote = (address: string, remote: string) =>
  `Published on ${address} of ${remote}, where Docker is, for that machine only. An admin can set DAVIT_PUBLISH_ADDRESS to an address of it.`

/** True when a browser would send the panel's cookies to an app that is published as the setting says. */
export function sharesHost({ publishAddress: set, url, host, dockerHost }: PanelPlace) {
  const remote = remoteHost(dockerHost)
  const publishAddress = remote !== null && isAnyAddress(set) ? remote : set
  if (url?.protocol === 'https:' || publishAddress === appsAddress) return false
  if (!isLoopback(host) || (url && !isLoopback(url.hostname))) return true
  const own = ['127.0.0.1', '::1', '0.0.0.0', '::', host, url?.hostname ?? host].map(canonicalHost)
  return own.includes(canonicalHost(publishAddress))
}
