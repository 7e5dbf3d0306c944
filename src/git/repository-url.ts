import { AppError } from '../platform/errors.ts'
import { canonicalHost, refusedHost } from '../platform/hosts.ts'

export type RepositoryUrl = {
  /** The URL for git: always normalised, never the text as entered. */
  href: string
  protocol: 'https' | 'http' | 'ssh' | 'file'
  /** Empty for a local repository. IPv6 addresses have no brackets. */
  host: string
  port: number
  path: string
}

export const usualPorts = { https: 443, http: 80, ssh: 22, file: 0 }

/**
 * Parses a repository's address; throws an AppError that says what is wrong with it. git and URL parsers
 * disagree on unusual text, so that is refused and the rest is normalised.
 */
export function parseRepositoryUrl(
  text: string,
  options: { allowLocal: boolean; allow: string[] },
): RepositoryUrl {
  const url = readRepositoryUrl(withScheme(text, options), options)
  const refused = url.protocol === 'file' ? null : refusedHost(url.host, options.allow)
  if (refused) throw invalid(refused)
  return url
}

/**
 * Adds https:// to an address without a scheme, such as github.com/owner/repository. Only a name with a dot,
 * or an allowed host, counts as a host.
 */
export function withScheme(text: string, { allow }: { allow: string[] }): string {
  const host = /^([A-Za-z0-9][A-Za-z0-9.-]*)(?::\d{1,5})?\/./.exec(text)?.[1]
  const isHost = host && (/\.[A-Za-z]/.test(host) || allow.includes(host.toLowerCase()))
  return isHost && !host.includes('..') ? `https://${text}` : text
}

/** Like `parseRepositoryUrl`, without checking whether Davit may connect to the host. */
export function readRepositoryUrl(text: string, options: { allowLocal: boolean }): RepositoryUrl {
  refuseOddText(text)
  if (isLocal(text)) return parseLocal(text, options)
  const url = parseRemote(text)
  const protocol = protocolOf(url)
  const host = hostOf(url)
  refuseCredentials(url, protocol)
  if (/^\/*$/.test(url.pathname))
    throw invalid(`This address has the host ${host}, but no repository.`)

  const user = url.username ? `${url.username}@` : ''
  const bracketed = host.includes(':') ? `[${host}]` : host
  const port = url.port ? `:${url.port}` : ''
  return {
    href: `${protocol}://${user}${bracketed}${port}${url.pathname}${url.search}`,
    protocol,
    host,
    port: Number(url.port) || usualPorts[protocol],
    path: url.pathname,
  }
}

function refuseOddText(text: string) {
  if (text === '') throw invalid('Enter the address of a repository.')
  if (text.length > 2_000)
    throw invalid('A repository’s address can have at most 2,000 characters.')
  if (text.startsWith('-')) throw invalid('A repository’s address can’t begin with “-”.')
  if (/[\s\p{Cc}\p{Cf}]/u.test(text)) {
    throw invalid('A repository’s address can’t contain spaces or control characters.')
  }
  if (text.includes('\\')) throw invalid('A repository’s address can’t contain a backslash.')
  if (/^[^/]*::/.test(text) && !text.includes('[')) {
    throw invalid(
      `Addresses such as “${text.split('::')[0]}::” aren’t allowed, because they would run a helper program.`,
    )
  }
}

const isLocal = (text: string) => /^(file:|[/.~])/i.test(text)

function parseLocal(text: string, { allowLocal }: { allowLocal: boolean }): RepositoryUrl {
  if (!allowLocal) {
    throw invalid(
      'Repositories on this server aren’t allowed unless DAVIT_ALLOW_LOCAL_REPOS=1 is set.',
    )
  }
  const url = URL.parse(/^file:/i.test(text) ? text : `file://${encodeURI(text)}`)
  if (!url || url.host || !/^(\/|file:\/\/)/i.test(text) || url.pathname === '/') {
    throw invalid('Enter a local repository as a full path, such as /srv/git/app.git.')
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
  // ssh would read a leading “-” as an option, and the URL parser accepts one.
  if (/^-/.test(url.hostname) || /^(-|%2d)/i.test(url.username)) {
    throw invalid('The user and the host of an address can’t begin with “-”.')
  }
  const host = canonicalHost(url.hostname)
  if (!host) throw invalid('The host in this address isn’t a valid host name.')
  return host
}

function refuseCredentials(url: URL, protocol: string) {
  if (url.password || (url.username && protocol !== 'ssh')) {
    throw invalid(
      'An address can’t contain a user or password. Add the token as a git source instead.',
    )
  }
  if (!/^[A-Za-z0-9._-]*$/.test(url.username)) {
    throw invalid('The user in this address isn’t a valid user name.')
  }
}

const wanted = 'Enter the address as https://host/owner/repository or git@host:owner/repository.'

const invalid = (message: string) => new AppError('invalid', message)
