import { Failure } from '../../platform/errors.ts'
import { openProgram } from '../run.ts'
import { FrameReader, dataFrames, messageFrame } from './frames.ts'
import { readReply } from './messages.ts'
import type { Answer, Asked, Request } from './messages.ts'

/** As in the arguments of ssh. */
export type Destination = { host: string; port: string | null; identity: string | null }

/** The host's name in messages. */
export const nameOf = ({ host }: Pick<Destination, 'host'>) => host.split('@').at(-1)!

/** Timeouts in milliseconds: between two `alive` messages, to write a frame, and to reply. */
const alivePace = 30_000
const longestWrite = 15 * 60_000
const quick = 5 * 60_000
const longestReply = {
  ...{ look: quick, has: quick, name: quick, running: quick, state: quick, keep: quick },
  ...{ begin: 30 * 60_000, start: 60 * 60_000, visit: 60 * 60_000, halt: 60 * 60_000 },
  ...{ volume: 60 * 60_000, backup: 60 * 60_000, image: 4 * 60 * 60_000 }, // after everything was sent
} satisfies Record<Asked, number>

export type Remote = ReturnType<typeof connectRemote>

/**
 * Runs `davit receive` on the new server through ssh, with the keys, known_hosts and
 * settings of the current user. It can't prompt: there is no terminal.
 */
export function connectRemote(
  { host, port, identity }: Destination,
  executable: string,
  signal: AbortSignal,
) {
  const said: string[] = []
  const settings = ['BatchMode=yes', 'ConnectTimeout=20', 'ServerAliveInterval=15']
  const options = ['-T', '-a', '-x', ...settings.flatMap((setting) => ['-o', setting])]
  const where = [...(port ? ['-p', port] : []), ...(identity ? ['-i', identity] : [])]
  const ssh = openProgram({
    argv: ['ssh', ...options, ...where, '--', host, executable, 'receive'],
    signal,
    onLine: (line) => said.push(line) > 20 && said.shift(),
  })
  const replies = new FrameReader(ssh.output)
  let isOver = false
  let stalled: Failure | null = null
  const alive = setInterval(() => void tell({ ask: 'alive' }).catch(() => {}), alivePace)
  ssh.ended.catch(() => {}) // reported by the call that it breaks

  /** Ends the connection when the promise takes too long. */
  async function within<Result>(longest: number, doing: Promise<Result>): Promise<Result> {
    const timer = setTimeout(() => ssh.stop((stalled = tooSlow(host))), longest)
    return doing.finally(() => clearTimeout(timer))
  }
  const write = (frame: Uint8Array) => within(longestWrite, ssh.write(frame))
  const tell = (message: Request) => write(messageFrame(message))

  /** Prefers the reason that ssh printed to the broken connection. */
  async function broken(error: unknown) {
    isOver = true
    signal.throwIfAborted()
    if (stalled) return stalled
    if (!(error instanceof Failure) || error.code !== 'move_connection') {
      ssh.stop(error)
      return error
    }
    const patience = Bun.sleep(10_000).then(() => ssh.stop(error))
    const status = await Promise.race([ssh.ended.catch(() => null), patience])
    return whyEnded({ host, status: status ?? null, said })
  }

  async function call<Ask extends Asked>(
    message: Extract<Request, { ask: Ask }>,
    send: () => Promise<void> = async () => {},
  ): Promise<Answer<Ask>> {
    await tell(message).catch(() => {}) // the missing reply gives the reason
    const reply = replies.message()
    // a reply before everything was sent is a refusal
    await Promise.race([send().catch(() => {}), reply.catch(() => {})])
    const { ask } = message as { ask: Ask }
    const received = await within(longestReply[ask], reply).catch(async (error) => {
      throw await broken(error)
    })
    const { failed, done } = readReply(ask, received)
    if (!failed) return done
    isOver = true
    throw new Failure(failed.code, failed.message, failed.hint)
  }

  return {
    ask: <Ask extends Asked>(message: Extract<Request, { ask: Ask }>) => call<Ask>(message),
    /** Sends a request with its data; an error of the source ends the connection. */
    async send<Ask extends 'image' | 'volume' | 'backup'>(
      message: Extract<Request, { ask: Ask }>,
      source: AsyncIterable<Uint8Array>,
      onBytes: (count: number) => void,
    ) {
      const hash = new Bun.CryptoHasher('sha256')
      let bytes = 0
      let failure: unknown
      await call<Ask>(message, async () => {
        try {
          for await (const chunk of source) {
            if (isOver) return
            hash.update(chunk)
            bytes += chunk.length
            for (const frame of dataFrames(chunk)) await write(frame)
            onBytes(bytes)
          }
        } catch (error) {
          failure = error
          ssh.stop(error)
          throw error
        }
        await tell({ ask: 'sum', bytes, sha256: hash.digest('hex') })
      }).catch((error) => {
        throw failure instanceof Failure ? failure : error // more telling than a broken pipe
      })
      return bytes
    },
    /** Ends the connection; the other side then removes what it wasn't asked to keep. */
    async close() {
      isOver = true
      clearInterval(alive)
      await ssh.endInput().catch(() => {})
      await Promise.race([ssh.ended.catch(() => {}), Bun.sleep(120_000)])
      ssh.stop(new Error('the connection was closed'))
    },
  }
}

const tooSlow = (host: string) =>
  new Failure(
    'move_connection',
    `davit receive on ${host} didn’t reply for too long.`,
    'See what it does there: ps -ef. Then run davit move again: it starts from the beginning.',
  )

type End = { host: string; status: number | null; said: string[] }

/** Explains messages of ssh and of the remote shell. */
const reasons: [RegExp, string, (host: string) => [message: string, hint: string]][] = [
  [
    /REMOTE HOST IDENTIFICATION HAS CHANGED/,
    'move_host_key',
    (host) => [
      `The host key of ${host} isn’t the one that this server knows.`,
      `It may be another machine: compare its fingerprint. Then run ssh-keygen -R with its name, ssh ${host}, and davit move again.`,
    ],
  ],
  [
    /Host key verification failed/,
    'move_host_key',
    (host) => [
      `This server doesn’t know the host key of ${host}.`,
      `Run ssh ${host} once as root, compare the fingerprint, and accept it. Then run davit move again.`,
    ],
  ],
  [
    /Permission denied/,
    'move_login',
    (host) => [
      `${host} didn’t accept the login.`,
      `Give root here a key that root there accepts (ssh-copy-id ${host}), or name one with --identity.`,
    ],
  ],
  [
    /davit: .*(No such file|not found)/,
    'move_not_installed',
    (host) => [
      `Davit isn’t installed on ${host}.`,
      'Run davit install there, with the same version. Then run davit move again.',
    ],
  ],
  [
    /there is no command receive/,
    'move_other_version',
    (host) => [
      `The Davit on ${host} is older than this one: it can’t receive a move.`,
      'Upgrade it with davit upgrade. Then run davit move again.',
    ],
  ],
]

function whyEnded({ host, status, said }: End) {
  const all = said.join('\n')
  const found = reasons.find(([pattern]) => pattern.test(all))
  if (found) return new Failure(found[1], ...found[2](host))
  const last = said.at(-1)?.slice(0, 400)
  const what = status === 255 ? `The connection to ${host} broke` : `davit receive on ${host} ended`
  return new Failure(
    'move_connection',
    `${what}${last ? `: ${last.replace(/^davit: /, '').replace(/\.$/, '')}` : ''}.`,
    'Fix that, then run davit move again: it starts from the beginning.',
  )
}
