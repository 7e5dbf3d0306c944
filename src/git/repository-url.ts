import { AppError } from '../platform/errors.ts'
import { canonicalHost, refusedHost } from '../platform/hosts.ts'

export type RepositoryUrl = {
  /** What git is given: never the text as it was typed. */
  href: string
  protocol: 'https' | 'http' | 'ssh' | 'file'
  /** Empty for a local repository; an IPv6 address has no brackets. */
  host: string
  port: number
  path: string
}

const ports = { https: 443, http: 80, ssh: 22, file: 0 }

/**
 * Reads a repository's address, or throws an AppError that says what is wrong with it.
 * git and URL parsers disagree on odd text, so all of it is refused and the rest is written anew.
 */
export function parseRepositoryUrl(
  text: string,
  options: { allowLocal: boolean; allow: string[] },
): RepositoryUrl {
  const url = readRepositoryUrl(text, options)
  const refused = url.protocol === 'file' ? null : refusedHost(url.host, options.allow)
  if (refused) throw invalid(refused)
  return url
}

/** The same without the question whether Davit may connect to the host. */
export function readRepositoryUrl(text: string, options: { allowLocal: boolean }): RepositoryUrl {
  refuseOddText(text)
  if (isLocal(text)) return parseLocal(text, options)
  const url = parseRemote(text)
  const protocol = protocolOf(url)
  const host = hostOf(url)
  refuseCredentials(url, protocol)
  if (/^\/*$/.test(url.pathname)) throw invalid(`This names the host ${host}, but no repository.`)

  const user = url.username ? `${url.username}@` : ''
  const bracketed = host.includes(':') ? `[${host}]` : host
  const port = url.port ? `:${url.port}` : ''
  return {
    href: `${protocol}://${user}${bracketed}${port}${url.pathname}${url.search}`,
    protocol,
    host,
    port: Number(url.port) || ports[protocol],
    path: url.pathname,
  }
}

function refuseOddText(text: string) {
  if (text === '') throw invalid('A repository needs an address.')
  if (text.length > 2_000) throw invalid('A repository’s address has at most 2,000 characters.')
  if (text.startsWith('-')) throw invalid('A repository’s address cannot begin with “-”.')
  if (/[\s\p{Cc}\p{Cf}]/u.test(text)) {
    throw invalid('A repository’s address cannot hold spaces or control characters.')
  }
  if (text.includes('\\')) throw invalid('A repository’s address cannot hold a backslash.')
  if (/^[^/]*::/.test(text) && !text.includes('[')) {
    throw invalid(
      `Addresses such as “${text.split('::')[0]}::” would run a helper program: refused.`,
    )
  }
}

const isLocal = (text: string) => /^(file:|[/.~])/i.test(text)

function parseLocal(text: string, { allowLocal }: { allowLocal: boolean }): RepositoryUrl {
  if (!allowLocal) {
    throw invalid(
      'Repositories on this machine are refused unless DAVIT_ALLOW_LOCAL_REPOS=1 is set.',
    )
  }
  const url = URL.parse(/^file:/i.test(text) ? text : `file://${encodeURI(text)}`)
  if (!url || url.host || !/^(\/|file:\/\/)/i.test(text) || url.pathname === '/') {
    throw invalid('Write a local repository as its whole path, such as /srv/git/app.git.')
  }
  return { href: `file://${url.pathname}`, protocol: 'file', host: '', port: 0, path: url.pathname }
}

function parseRemote(text: string): URL {
  const scp = /^([^@:/]+)@([^:/@]+|\[[^\]/@]+\]):(?!\/\/)(.+)$/.exec(text)
  const url = URL.parse(scp ? `ssh://${scp[1]}@${scp[2]}/${scp[3]!.replace(/^\/+/, '')}` : text)
  if (!url) throw invalid(wanted)
  url.hash = ''
  return url
}

function protocolOf(url: URL): 'https' | 'http' | 'ssh' {
  const protocol = url.protocol.slice(0, -1)
  if (protocol === 'https' || protocol === 'http' || protocol === 'ssh') return protocol
  throw invalid(wanted)
}

function hostOf(url: URL): string {
  // ssh would read a leading “-” as an option, and the URL parser lets one through.
  if (/^-/.test(url.hostname) || /^(-|%2d)/i.test(url.username)) {
    throw invalid('Neither the user nor the host of an address can begin with “-”.')
  }
  const host = canonicalHost(url.hostname)
  if (!host) throw invalid('The host in this address is not the name of a host.')
  return host
}

function refuseCredentials(url: URL, protocol: string) {
  if (url.password || (url.username && protocol !== 'ssh')) {
    throw invalid('An address holds no user or password: put the token into a git source instead.')
  }
  if (!/^[A-Za-z0-9._-]*$/.test(url.username)) {
    throw invalid('The user in this address is not the name of a user.')
  }
}

const wanted =
  'Write the address as https://host/owner/repository, or as git@host:owner/repository.'

const invalid = (message: string) => new AppError('invalid', message)
