import { Failure } from '../../platform/errors.ts'

type End = { host: string; status: number | null; said: string[] }

/** Explains messages of ssh and of the remote shell. */
const reasonsOf = (host: string): [RegExp, code: string, message: string, hint: string][] => [
  [
    /REMOTE HOST IDENTIFICATION HAS CHANGED/,
    'move_host_key',
    `The host key of ${host} isn’t the one that this server knows.`,
    `It may be another machine: compare its fingerprint. Then run ssh-keygen -R with its name, ssh ${host}, and davit move again.`,
  ],
  [
    /Host key verification failed/,
    'move_host_key',
    `This server doesn’t know the host key of ${host}.`,
    `Run ssh ${host} once as root, compare the fingerprint, and accept it. Then run davit move again.`,
  ],
  [
    /Permission denied/,
    'move_login',
    `${host} didn’t accept the login.`,
    `Give root here a key that root there accepts (ssh-copy-id ${host}), or name one with --identity.`,
  ],
  [
    /subsystem request failed/,
    'move_sftp',
    `The ssh server of ${host} has no sftp, by which volumes are sent.`,
    'Add the line “Subsystem sftp internal-sftp” to /etc/ssh/sshd_config there, and restart it.',
  ],
  [
    /davit: .*(No such file|not found)/,
    'move_not_installed',
    `Davit isn’t installed on ${host}.`,
    'Run davit install there, with the same version. Then run davit move again.',
  ],
]

/** From what ssh and the remote shell said. */
export function whyEnded({ host, status, said }: End) {
  const all = said.join('\n')
  const found = reasonsOf(host).find(([pattern]) => pattern.test(all))
  if (found) {
    const [, code, message, hint] = found
    return new Failure(code, message, hint)
  }
  const last = said.at(-1)?.slice(0, 400)
  const what = status === 255 ? `The connection to ${host} broke` : `davit receive on ${host} ended`
  return new Failure(
    'move_connection',
    `${what}${last ? `: ${last.replace(/^davit: /, '').replace(/\.$/, '')}` : ''}.`,
    'Fix that, then run davit move again: it starts from the beginning.',
  )
}
