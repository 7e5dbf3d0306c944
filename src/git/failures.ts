import { roomHint } from '../platform/disk-space.ts'
import { Failure } from '../platform/errors.ts'
import type { GitError } from './run.ts'

type Explanation = {
  code: string
  says: RegExp
  message: (where: string) => string
  hint: string
}

/** Turns git's output into a code, a sentence and a next step. `opened` is the kind of credential used. */
export function explainGit(
  error: GitError,
  { where, opened = null }: { where: string; opened?: 'token' | 'key' | null },
): Failure {
  const known = explanations.find(({ says }) => error.says(says))
  if (known?.code === 'authentication' && opened) return notOpened(where, opened, error)
  if (known) return new Failure(known.code, known.message(where), known.hint, { cause: error })
  const last = error.lines.findLast((line) => /^(fatal|error):/.test(line)) ?? error.lines.at(-1)
  return new Failure(
    'git_failed',
    `git ${error.command} failed: ${last?.replace(/^(fatal|error): /, '') ?? 'git gave no reason'}`,
    'Try again. If it keeps failing, clone the repository by hand on this server to see more.',
    { cause: error },
  )
}

// The first match is used: a full disk makes git complain about much else too.
const explanations: Explanation[] = [
  {
    code: 'disk_full',
    says: /No space left on device|Disk quota exceeded/,
    message: () => 'The disk of this server is full.',
    hint: roomHint,
  },
  {
    code: 'redirected',
    says: /returned error: 30\d/,
    message: (where) => `The server redirects ${where} to another address.`,
    hint: 'Davit follows redirects on the same host and port only, or from http:// to https://. Use the address that it redirects to.',
  },
  {
    code: 'host_key_changed',
    says: /REMOTE HOST IDENTIFICATION HAS CHANGED|has changed and you have requested strict/,
    message: (where) => `The server of ${where} has a different host key than before.`,
    hint: 'Someone may be intercepting the connection. If the server really has a new key, ask the operator to remove its line from git-home/known_hosts in the data directory.',
  },
  {
    code: 'authentication',
    says: /Authentication failed|could not read (Username|Password)|returned error: 40[13]|Permission denied \(|Host key verification failed/,
    message: (where) => `Davit can’t read ${where}: it is private, or doesn’t exist.`,
    hint: 'Check the address; for a private repository, link a git source with an access token.',
  },
  {
    code: 'repository_not_found',
    says: /repository '.*' not found|returned error: 404|Repository not found|does not appear to be a git repository|not valid: is this a git repository/i,
    message: (where) => `There is no repository at ${where}.`,
    hint: 'Check the spelling of the address.',
  },
  {
    code: 'host_unresolved',
    says: /Could not resolve host/i,
    message: (where) => `The host of ${where} doesn’t exist in the DNS.`,
    hint: 'Check the spelling of the host in the address.',
  },
  {
    code: 'git_timeout',
    says: /Operation too slow|Operation timed out|timed out after/i,
    message: (where) => `The server of ${where} stopped responding.`,
    hint: 'Try again. If it keeps failing, check that the git server responds from this server.',
  },
  {
    code: 'host_unreachable',
    says: /Failed to connect|Couldn't connect|Could not connect|Connection (refused|reset|closed|timed out)|No route to host|unreachable|SSL|TLS|certificate|Empty reply|returned error: 5\d\d|Recv failure|unexpected disconnect|early EOF|hung up unexpectedly/i,
    message: (where) => `The server of ${where} couldn’t be reached, or the connection broke.`,
    hint: 'Try again. If it keeps failing, check that the git server responds from this server.',
  },
]

const notOpened = (where: string, opened: 'token' | 'key', cause: GitError) =>
  opened === 'token'
    ? new Failure(
        'authentication',
        `The server refused the token of the git source for ${where}.`,
        'Check under Settings, Git that the token still works and can read this repository.',
        { cause },
      )
    : new Failure(
        'authentication',
        `The server refused the project’s deploy key for ${where}.`,
        'Add the public key from the project’s settings to the repository.',
        { cause },
      )
