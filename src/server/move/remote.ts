import { pipeline } from 'node:stream/promises'
import { within } from '../../platform/pause.ts'
import type { Channel } from '../../backups/restic/repository.ts'
import { Failure } from '../../platform/errors.ts'
import { inOneLine } from '../../platform/terminal-text.ts'
import { openProgram } from '../run.ts'
import { alive, lineOf, messagesIn } from './messages.ts'
import type { Answer, Reply, RequestName, Request } from './messages.ts'
import { whyEnded } from './why-ended.ts'

/** As in the arguments of ssh. */
export type Destination = { host: string; port: string | null; identity: string | null }

/** The host's name in messages. */
export const nameOf = ({ host }: Pick<Destination, 'host'>) => host.split('@').at(-1)!

export type Remote = ReturnType<typeof connectRemote>

/**
 * Runs something on the new server through ssh, with the keys, known_hosts and settings of the current user. It
 * can't prompt: there is no terminal.
 */
function openSsh(
  { host, port, identity }: Destination,
  { command, isSubsystem = false }: { command: string[]; isSubsystem?: boolean },
  signal: AbortSignal,
) {
  const said: string[] = []
  const settings = ['BatchMode=yes', 'ConnectTimeout=20', 'ServerAliveInterval=15']
  const options = ['-T', '-a', '-x', ...settings.flatMap((setting) => ['-o', setting])]
  const where = [...(port ? ['-p', port] : []), ...(identity ? ['-i', identity] : [])]
  const what = [...(isSubsystem ? ['-s'] : []), '--', host, ...command]
  const ssh = openProgram({
    argv: ['ssh', ...options, ...where, ...what],
    signal,
    onLine: (line) => said.push(line) > 20 && said.shift(),
  })
  ssh.ended.catch(() => {}) // reported by the call that it breaks
  /** Waits for its end, as what it says last explains it. */
  async function explained(cause: unknown) {
    signal.throwIfAborted()
    const status = await within(
      10_000,
      ssh.ended.catch(() => null),
    )
    ssh.stop(cause)
    return whyEnded({ host, status: isSubsystem ? 255 : status, said })
  }
  return { ...ssh, explained }
}

/** Runs `davit receive` there. */
export function connectRemote(destination: Destination, executable: string, signal: AbortSignal) {
  const ssh = openSsh(destination, { command: [executable, 'receive'] }, signal)
  // a terminal shows what they say
  const replies = messagesIn(ssh.output, inOneLine)
  const write = (message: Request | Record<string, never>) => ssh.write(lineOf(message))
  const beat = setInterval(() => void write({}).catch(() => {}), alive.every)

  async function next() {
    const read = await replies.next().catch((error) => {
      ssh.stop(error)
      throw error
    })
    if (read.done) throw await ssh.explained(null)
    return read.value as Reply
  }

  return {
    async ask<Ask extends RequestName>(
      message: Request<Ask>,
      say: (line: string) => void = () => {},
    ): Promise<Answer<Ask>> {
      await write(message).catch(() => {}) // the missing reply gives the reason
      for (;;) {
        const { say: line, failed, done } = await next()
        if (line !== undefined) say(`    ${line}`)
        if (failed) throw new Failure(failed.code, failed.message, failed.hint)
        if (done !== undefined) return done as Answer<Ask>
      }
    },
    /** Ends the connection; the other side then removes what it wasn't asked to keep. */
    async close() {
      clearInterval(beat)
      await ssh.endInput().catch(() => {})
      await within(
        120_000,
        ssh.ended.catch(() => {}),
      )
      ssh.stop(new Error('the connection was closed'))
    },
  }
}

export type Sent = {
  destination: Destination
  executable: string
  what: 'image' | 'data'
  source: AsyncIterable<Uint8Array>
  onBytes: (count: number) => void
  signal: AbortSignal
}

/** Sends what `davit receive` takes on a connection of its own, once a move has begun there. */
export async function sendThere({ destination, executable, what, source, onBytes, signal }: Sent) {
  const ssh = openSsh(destination, { command: [executable, 'receive', `--take=${what}`] }, signal)
  let bytes = 0
  try {
    for await (const chunk of source) {
      await ssh.write(chunk).catch(async (error) => Promise.reject(await ssh.explained(error)))
      onBytes((bytes += chunk.length))
    }
    await ssh.endInput()
    if ((await ssh.ended) !== 0) throw await ssh.explained(null)
    return bytes
  } finally {
    ssh.stop(new Error('it was sent'))
  }
}

/** The way to a repository on the new server, for its sshd's own sftp. */
export const sftpTo =
  (destination: Destination): Channel =>
  (signal) => {
    const ssh = openSsh(destination, { command: ['sftp'], isSubsystem: true }, signal)
    const failed = async (error: unknown) => {
      throw await ssh.explained(error)
    }
    let isDone = false
    return {
      async stdin(to) {
        await pipeline(ssh.output, to, { signal, end: false })
        if (!isDone) await failed(null)
      },
      async stdout(from) {
        for await (const chunk of from) await ssh.write(chunk).catch(failed)
        isDone = true
        await ssh.endInput().catch(() => {})
      },
    }
  }
