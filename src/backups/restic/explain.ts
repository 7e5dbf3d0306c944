import { Failure } from '../../platform/errors.ts'
import type { Messages } from './messages.ts'
import type { Repository } from './repository.ts'

type Kind = { code: string; exit?: number; means: RegExp; says: string; hint: string }

/** From the most specific message to the vaguest: the first match counts. Exit codes are those of restic 0.17. */
const kinds: Kind[] = [
  {
    code: 'target_key',
    exit: 12,
    means: /wrong password or no key found/i,
    says: 'has a repository with another key',
    hint: 'Choose another path or bucket, or restore the key files of the repository if something changed them.',
  },
  {
    code: 'target_bucket_missing',
    means: /NoSuchBucket|bucket does not exist/i,
    says: 'has no such bucket',
    hint: 'Create the bucket, or correct its name.',
  },
  {
    code: 'target_unauthorized',
    means:
      /InvalidAccessKeyId|SignatureDoesNotMatch|signature .* does not match|access ?key.*not exist|AccessDenied|Access Denied|\b40[13]\b|unauthorized|forbidden|Permission denied \(|Too many authentication failures|invalid credential/i,
    says: 'refused the login',
    hint: 'Correct its keys or password, and check that they may read, write and delete there.',
  },
  {
    code: 'target_host_key',
    means: /host key verification failed|REMOTE HOST IDENTIFICATION|host key .*changed/i,
    says: 'has another host key than when it was added',
    hint: 'Someone may be intercepting the connection. If the server really has a new key, enter it in the target.',
  },
  {
    code: 'target_full',
    means:
      /no space left|not enough space|disk (is )?full|quota|storage ?full|insufficient storage|\b507\b/i,
    says: 'is full',
    hint: 'Make room there, or let the plan keep fewer backups.',
  },
  {
    code: 'target_locked',
    exit: 11,
    means: /repository is already locked|unable to create lock/i,
    says: 'is in use by another program',
    hint: 'Wait until it has ended. If it was killed, run “restic unlock” on the repository.',
  },
  {
    code: 'target_newer',
    means: /(unsupported|invalid|unknown) (repository )?version|repository version/i,
    says: 'has a repository that a newer restic made',
    hint: 'Set DAVIT_RESTIC_IMAGE to that version, or choose another path.',
  },
  {
    code: 'target_certificate',
    means: /x509|certificate|tls: |remote error: tls/i,
    says: 'has a certificate that isn’t trusted',
    hint: 'Give it one of a public authority for this name.',
  },
  {
    code: 'target_not_found',
    means:
      /bind source path does not exist|create repository at sftp:.*: file does not exist|\bchdir .*no such file|sftp: .*not exist/i,
    says: 'has no such directory',
    hint: 'Create the directory, or correct its path.',
  },
  {
    code: 'target_missing',
    exit: 10,
    means:
      /repository does not exist|unable to open config file:.*(does not exist|no such file|not found|\b404\b)/i,
    says: 'has no repository of Davit',
    hint: 'It was deleted, or the target points elsewhere. If its backups are really lost, test the target under Settings, Targets: that creates a new repository.',
  },
  {
    code: 'target_unexpected',
    means:
      /time format is invalid|XML syntax|invalid character '<'|unexpected (HTTP )?response|server response unexpected/i,
    says: 'responds like something else',
    hint: 'Check that its address is that of the storage itself, not of a web page or of a proxy in front of it.',
  },
  {
    code: 'target_damaged',
    means:
      /ciphertext verification failed|hash mismatch|does not match|wrong data returned|corrupt|damaged|invalid data|invalid character|unexpected end of JSON|not found in (the )?(index|repository)|cannot be decrypted|decrypt|pack .* (contains|does not exist)|tree .* (not|is)|id .* not found in|blob .* (is|not)|Load\(<(data|index|snapshot|key).*(InvalidRange|invalid range|not satisfiable|not exist|not found|no such file)|repository contains errors|unexpected EOF.*pack|too[ -]short|zero size|slice bounds out of range|malformed/i,
    says: 'has damaged data',
    hint: 'Something changed or cut a file there. Take a new backup to another target, and run “restic check --read-data” there.',
  },
  {
    code: 'target_denied',
    means: /permission denied|read-only file system|operation not permitted|SSH_FX_PERMISSION/i,
    says: 'doesn’t allow writing there',
    hint: 'Give this user the right to write, or choose another path.',
  },
  {
    code: 'target_unreachable',
    means:
      /no such host|server misbehaving|name resolution|could not resolve|connection (refused|reset|timed out|closed)|i\/o timeout|timeout|no route to host|network is unreachable|deadline exceeded|\bEOF\b|broken pipe|\b50[0234]\b|HTTP response to HTTPS|retrying|unable to start the sftp|kex_exchange/i,
    says: 'can’t be reached',
    hint: 'Check its address, its port and whether it is running. An app’s name in Davit isn’t known there: use its public address.',
  },
]

/** True when trying again can’t help. */
export const isFinal = ({ code }: Failure) =>
  /^target_(key|bucket_missing|unauthorized|host_key|full|certificate|unexpected|damaged)$/.test(
    code,
  )

type Ended = {
  messages: Messages
  /** Null when it was ended because it took too long. */
  exitCode: number | null
  oomKilled?: boolean
}

/** Why restic failed, from its exit code and messages. */
export function explain(
  { repository }: { repository: Repository },
  { messages, exitCode, oomKilled = false }: Ended,
): Failure {
  const { where } = repository
  const text = messages.texts.map((line) => masked(line, repository.secrets)).join('\n')
  const kind =
    kinds.find(({ exit }) => exit !== undefined && exit === exitCode) ??
    kinds.find(({ means }) => means.test(text))
  const quote = quoteOf(text, kind)
  if (oomKilled || exitCode === 137)
    return new Failure(
      'backup_memory',
      'restic was ended because it needed more memory than it may use.',
      'Give the server more memory, or use a repository with less data.',
    )
  if (kind) return new Failure(kind.code, `The target ${where} ${kind.says}${quote}`, kind.hint)
  if (exitCode === null)
    return new Failure(
      'target_slow',
      `The target ${where} made no progress for too long${quote}`,
      'Check the connection to it and its load, then try again.',
    )
  return new Failure(
    'target_failed',
    `restic failed at the target ${where} with exit code ${exitCode}${quote}`,
    'Check the message of restic.',
  )
}

/** The line that decides it, or the last one. */
function quoteOf(text: string, kind: Kind | undefined) {
  const lines = text
    .split('\n')
    .filter(
      (line) => !/^(Is there a repository|davit-host-key |(rest|s3|sftp):|\[0:\d\d\])/.test(line),
    )
  const line = lines.findLast((one) => kind?.means.test(one)) ?? lines.at(-1) ?? ''
  const short = line.length > 300 ? `${line.slice(0, 300)}…` : line
  return short ? `: ${short.replace(/^Fatal: /, '').replace(/[.\s]*$/, '')}.` : '.'
}

const masked = (line: string, secrets: string[]) =>
  secrets.reduce((text, secret) => text.replaceAll(secret, '***'), line)
