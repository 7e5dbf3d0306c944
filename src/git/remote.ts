import { isIP } from 'node:net'
import { AppError, Failure } from '../platform/errors.ts'
import { resolveHost } from '../platform/hosts.ts'
import { explainGit } from './failures.ts'
import type { GitTools } from './git.ts'
import { readRepositoryUrl, usualPorts } from './repository-url.ts'
import type { RepositoryUrl } from './repository-url.ts'
import { keysFor, withKeyFile } from './keys.ts'
import type { OwnKeys } from './keys.ts'
import { GitError, runGit } from './run.ts'
import { readSample, sampleUrl } from './sample.ts'
import type { GitCommand } from './run.ts'

/** A remote repository, with the options that keep git on the checked address. */
export type Remote = {
  url: RepositoryUrl
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
  if (url.protocol === 'file') return { url, config: [], env: {}, keys }
  if (url.href === sampleUrl)
    return { url, config: [], env: await readSample(tools, options.signal), keys }
  const { allow, lookup } = tools
  const addresses = await resolveHost(url.host, {
    allow,
    signal: options.signal,
    ...(lookup ? { lookup } : {}),
  })
  if (url.protocol === 'ssh') {
    return { url, config: [], env: sshHost(url, addresses[0]!), keys }
  }
  const pin = `http.curloptResolve=${url.host}:${url.port}:${addresses.map(bracketed).join(',')}`
  return { url, config: isIP(url.host) ? [] : [pin], env: keys.env, keys }
}

/** Runs git against the remote: with the checked address and its credentials. */
export const runRemoteGit = (tools: GitTools, remote: Remote, command: GitCommand) =>
  withKeyFile(tools.setup, remote.keys.deployKey, (keyEnv) =>
    runGit(tools.setup, {
      ...command,
      config: [...remote.config, ...(command.config ?? [])],
      env: { ...remote.env, ...keyEnv },
      secrets: remote.keys.secrets,
      transfer: true,
    }),
  )

/** The branch that the remote's HEAD names, and its commit; null in an empty repository. */
export async function findRemoteHead(
  tools: GitTools,
  options: { remote: Remote; signal: AbortSignal },
): Promise<{ branch: string; hash: string } | null> {
  const text = await listRemote(tools, { ...options, what: ['--symref'], names: ['HEAD'] })
  const hash = /^([0-9a-f]+)\tHEAD$/m.exec(text)?.[1]
  const branch = /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(text)?.[1]
  return hash ? { branch: branch ?? 'HEAD', hash } : null
}

/** All branches, or all branches and tags, as git lists them. */
export const listRemoteRefs = (
  tools: GitTools,
  { kinds, ...options }: { remote: Remote; kinds: ('heads' | 'tags')[]; signal: AbortSignal },
): Promise<string> =>
  listRemote(tools, {
    ...options,
    what: ['--refs', ...kinds.map((kind) => `--${kind}`)],
    names: [],
  })

/** Maximum of branches that are read: one more than a list shows, so that it knows that it is incomplete. */
const mostBranches = 20_001

/** The branches with their commits, and the one that HEAD names. */
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
    branches: Array.from(heads.take(mostBranches), ([, commit, name]) => ({
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
    values: [remote.url.href, ...names],
    most: mostListing,
    tooMuch: tooManyRefs,
    signal,
  })
  return output.toString()
}

/** Bytes of a listing: some 100,000 branches and tags. */
const mostListing = 8 * 1024 * 1024

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

/** Turns git's errors about a remote into Failures. */
export const explained = (error: unknown, remote: Remote) =>
  error instanceof GitError
    ? explainGit(error, { where: placeOf(remote), opened: remote.keys.kind })
    : error

/** The repository in messages: only the host, an unusual port and the path. */
export const placeOf = ({ url: { protocol, host, port, path } }: Remote) =>
  `${host}${port === usualPorts[protocol] ? '' : `:${port}`}${path}`

/** The host key is pinned for each port, as ssh does without an alias. */
const sshHost = ({ host, port }: RepositoryUrl, address: string) => ({
  DAVIT_SSH_ADDRESS: address,
  DAVIT_SSH_HOST: port === 22 ? host : `[${host}]:${port}`,
})

const bracketed = (address: string) => (isIP(address) === 6 ? `[${address}]` : address)
