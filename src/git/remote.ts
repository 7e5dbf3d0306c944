import { isIP } from 'node:net'
import { AppError, Failure } from '../platform/errors.ts'
import { resolveHost } from '../platform/hosts.ts'
import { isSameServer, pinnedFetch } from '../platform/pinned-fetch.ts'
import { explainGit } from './failures.ts'
import type { GitTools } from './tools.ts'
import { readRepositoryUrl, usualPorts } from './repository-url.ts'
import type { RepositoryUrl } from './repository-url.ts'
import { keysFor, withKeyFile } from './keys.ts'
import type { OwnKeys } from './keys.ts'
import { GitError, runGit } from './run.ts'
import { readSample, sampleUrl } from './sample.ts'
import type { GitCommand } from './run.ts'

/** `config` and `env` keep git on the checked address. */
export type Remote = {
  url: RepositoryUrl
  /** The current address, after redirects on the same host. */
  href: string
  config: string[]
  env: Record<string, string>
  keys: OwnKeys
}

export async function connectRemote(
  tools: GitTools,
  options: { url: string; signal: AbortSignal },
): Promise<Remote> {
  const url = readUrl(options.url, tools.setup.allowLocal)
  const keys = keysFor(url, tools.keys)
  const { href } = url
  if (url.protocol === 'file') return { url, href, config: [], env: {}, keys }
  if (url.href === sampleUrl)
    return { url, href, config: [], env: await readSample(tools, options.signal), keys }
  const { allow, lookup } = tools
  const addresses = await resolveHost(url.host, {
    allow,
    signal: options.signal,
    ...(lookup ? { lookup } : {}),
  })
  if (url.protocol === 'ssh') {
    return { url, href, config: [], env: sshHost(url, addresses[0]!), keys }
  }
  const pin = `http.curloptResolve=${url.host}:${url.port}:${addresses.map(bracketed).join(',')}`
  return { url, href, config: isIP(url.host) ? [] : [pin], env: keys.env, keys }
}

/**
 * Runs git with the checked address as its first value, and with its credentials. git itself would follow a
 * redirect to any host, so it follows none: they are followed here.
 */
export async function runRemoteGit(
  tools: GitTools,
  remote: Remote,
  command: GitCommand,
  redirectsLeft = 5,
): Promise<Buffer> {
  const { href } = remote
  try {
    return await withKeyFile(tools.setup, remote.keys.deployKey, (keyEnv) =>
      runGit(tools.setup, {
        ...command,
        values: [href, ...(command.values ?? [])],
        config: [...remote.config, ...(command.config ?? [])],
        env: { ...remote.env, ...keyEnv },
        secrets: remote.keys.secrets,
        transfer: true,
      }),
    )
  } catch (error) {
    const isRedirect = error instanceof GitError && error.says(/returned error: 30\d/)
    if (!isRedirect || redirectsLeft === 0) throw error
    if (remote.href === href) await followRedirect(tools, remote, { signal: command.signal, error })
    return runRemoteGit(tools, remote, command, redirectsLeft - 1)
  }
}

/** Moves the remote to the target of its server's redirect. Throws `error` if that is another host. */
async function followRedirect(
  tools: GitTools,
  remote: Remote,
  { signal, error }: { signal: AbortSignal; error: GitError },
) {
  const { href, keys } = remote
  const asked = new URL(`${href.replace(/\/+$/, '')}/info/refs?service=git-upload-pack`)
  const { headers } = await pinnedFetch(
    asked,
    { headers: { 'User-Agent': 'git/2', ...(keys.header && { Authorization: keys.header }) } },
    { allow: tools.allow, lookup: tools.lookup, signal, maxBytes: 65_536, keepsRedirect: true },
  ).catch(() => {
    signal.throwIfAborted()
    throw error
  })
  const to = URL.parse(headers.get('Location') ?? '', asked.href)
  const path = /^(.+)\/info\/refs$/.exec(to?.pathname ?? '')?.[1]
  if (!to || !path || !isSameServer(asked, to)) throw error
  const url = `${to.origin}${path}`
  const moved = await connectRemote(tools, { url, signal })
  // mirrors are separate for each key: the new address must use the same one
  const isOpenedAlike = moved.keys.id === keys.id
  const opened = isOpenedAlike
    ? moved
    : await connectRemote({ ...tools, keys: {} }, { url, signal })
  Object.assign(remote, { ...opened, url: remote.url })
}

/** Null in an empty repository. */
export async function findRemoteHead(
  tools: GitTools,
  options: { remote: Remote; signal: AbortSignal },
): Promise<{ branch: string; hash: string } | null> {
  const text = await listRemote(tools, { ...options, what: ['--symref'], names: ['HEAD'] })
  const hash = /^([0-9a-f]+)\tHEAD$/m.exec(text)?.[1]
  const branch = /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(text)?.[1]
  return hash ? { branch: branch ?? 'HEAD', hash } : null
}

export const listRemoteRefs = (
  tools: GitTools,
  { kinds, ...options }: { remote: Remote; kinds: ('heads' | 'tags')[]; signal: AbortSignal },
): Promise<string> =>
  listRemote(tools, {
    ...options,
    what: ['--refs', ...kinds.map((kind) => `--${kind}`)],
    names: [],
  })

/** Those of an address. */
export async function listRefs(tools: GitTools, options: { url: string; signal: AbortSignal }) {
  const remote = await connectRemote(tools, options)
  const { signal } = options
  return listRemoteRefs(tools, { remote, kinds: ['heads', 'tags'], signal }).catch((error) => {
    throw explained(error, remote)
  })
}

/** One more than a list shows, so that an incomplete list is recognised. */
const maxBranches = 20_001

export async function listBranches(
  tools: GitTools,
  options: { url: string; signal: AbortSignal },
): Promise<{ head: string | null; branches: { name: string; commit: string }[] }> {
  const { signal } = options
  const remote = await connectRemote(tools, options)
  const names = ['HEAD', 'refs/heads/*']
  const text = await listRemote(tools, { remote, what: ['--symref'], names, signal }).catch(
    (error) => {
      throw explained(error, remote)
    },
  )
  const heads = text.matchAll(/^([0-9a-f]+)\trefs\/heads\/(.+)$/gm)
  return {
    head: /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(text)?.[1] ?? null,
    branches: Array.from(heads.take(maxBranches), ([, commit, name]) => ({
      name: name!,
      commit: commit!,
    })),
  }
}

async function listRemote(
  tools: GitTools,
  options: { remote: Remote; what: string[]; names: string[]; signal: AbortSignal },
): Promise<string> {
  const { remote, what, names, signal } = options
  const output = await runRemoteGit(tools, remote, {
    command: 'ls-remote',
    options: ['--quiet', ...what],
    values: names,
    max: maxListing,
    tooMuch: tooManyRefs,
    signal,
  })
  return output.toString()
}

/** In bytes: some 100,000 branches and tags. */
const maxListing = 8 * 1024 * 1024

const tooManyRefs = () =>
  new Failure(
    'too_many_refs',
    'The repository has more branches and tags than Davit reads (8 MiB of names).',
    'Delete branches that aren’t needed anymore, or name an existing branch.',
  )

function readUrl(text: string, allowLocal: boolean): RepositoryUrl {
  try {
    return readRepositoryUrl(text, { allowLocal })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new Failure(
      'repository_refused',
      error.message,
      'Change the repository’s address in the settings of the project.',
    )
  }
}

export const explained = (error: unknown, remote: Remote) =>
  error instanceof GitError
    ? explainGit(error, { where: locationOf(remote), opened: remote.keys.kind })
    : error

/** The repository's name in messages: host, unusual port, and path. */
export const locationOf = ({ url: { protocol, host, port, path } }: Remote) =>
  `${host}${port === usualPorts[protocol] ? '' : `:${port}`}${path}`

/** Pins the host key for each port, as ssh does without an alias. */
const sshHost = ({ host, port }: RepositoryUrl, address: string) => ({
  DAVIT_SSH_ADDRESS: address,
  DAVIT_SSH_HOST: port === 22 ? host : `[${host}]:${port}`,
})

const bracketed = (address: string) => (isIP(address) === 6 ? `[${address}]` : address)
