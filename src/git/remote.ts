import { isIP } from 'node:net'
import { AppError, Failure } from '../errors.ts'
import { resolveHost } from '../hosts.ts'
import type { GitTools } from './git.ts'
import { readRepositoryUrl, type RepositoryUrl } from './repository-url.ts'
import { runGit } from './run.ts'

/** A repository elsewhere, with what keeps git on the address that was checked. */
export type Remote = { url: RepositoryUrl; config: string[]; env: Record<string, string> }

export async function connectRemote(
  tools: GitTools,
  options: { url: string; signal: AbortSignal },
): Promise<Remote> {
  const url = readUrl(options.url, tools.setup.allowLocal)
  if (url.protocol === 'file') return { url, config: [], env: {} }
  const { allow, lookup } = tools
  const addresses = await resolveHost(url.host, {
    allow,
    signal: options.signal,
    ...(lookup ? { lookup } : {}),
  })
  if (url.protocol === 'ssh') {
    return { url, config: [], env: { DAVIT_SSH_ADDRESS: addresses[0]!, DAVIT_SSH_HOST: url.host } }
  }
  const pin = `http.curloptResolve=${url.host}:${url.port}:${addresses.map(bracketed).join(',')}`
  return { url, config: isIP(url.host) ? [] : [pin], env: {} }
}

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

export async function listRemoteBranches(
  tools: GitTools,
  options: { remote: Remote; signal: AbortSignal },
): Promise<string[]> {
  const text = await listRemote(tools, { ...options, what: ['--heads'], names: [] })
  return [...text.matchAll(/\trefs\/heads\/(.+)$/gm)].map(([, name]) => name!)
}

async function listRemote(
  tools: GitTools,
  options: { remote: Remote; what: string[]; names: string[]; signal: AbortSignal },
): Promise<string> {
  const { remote, what, names, signal } = options
  const output = await runGit(tools.setup, {
    command: 'ls-remote',
    options: ['--quiet', ...what],
    values: [remote.url.href, ...names],
    config: remote.config,
    env: remote.env,
    transfer: true,
    signal,
  })
  return output.toString()
}

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

const bracketed = (address: string) => (isIP(address) === 6 ? `[${address}]` : address)
