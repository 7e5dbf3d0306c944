import { Agent } from 'node:http'
import type { AgentOptions } from 'node:http'
import type { Duplex } from 'node:stream'
import { Semaphore } from '../platform/semaphore.ts'
import { sshLogin } from './ssh.ts'
import type { SshAddress } from './ssh.ts'

type Opened = (error: Error | null, stream?: Duplex) => void

/** Creates an agent for a single connection. */
type Connect = (login: object) => {
  createConnection(options: AgentOptions, opened: Opened): void
}

/** Milliseconds for which a connection is kept for the next call: a login takes far longer than most. */
const idleTime = 10_000

/**
 * A connection is broken after two unanswered messages and the time of a third. One of several servers is away after
 * 12 s; the only one has time to recover.
 */
const keepAlive = { keepaliveInterval: 10_000, keepaliveCountMax: 2 }
const keepAliveOfServer = { ...keepAlive, keepaliveInterval: 4000 }

/** sshd drops connections at random when more than ten log in at a time. */
const loginsAtOnce = 4

/** In milliseconds. */
const loginTime = 15_000

const tooSlow = () =>
  Object.assign(new Error(`the login didn’t end within ${loginTime / 1000} s`), { level: 'login' })

/** Connections to an engine's socket behind sshd, each with its own login. */
export class SshAgent extends Agent {
  readonly #address: SshAddress
  readonly #connect: Connect
  readonly #logins = new Semaphore(loginsAtOnce)
  readonly #idle = new WeakMap<Duplex, ReturnType<typeof setTimeout>>()

  constructor(address: SshAddress, connect: Connect) {
    super({ keepAlive: true })
    this.#connect = connect
    this.#address = address
  }

  override createConnection(options: AgentOptions, opened: Opened): undefined {
    void this.#logins.acquire().then((turn) => {
      let isOver = false
      // a connection that breaks within the login isn't reported
      const limit = setTimeout(() => ended(tooSlow()), loginTime)
      const ended: Opened = (error, made) => {
        // a later error is reported here again, and ends the stream
        if (isOver) return void made?.destroy()
        isOver = true
        clearTimeout(limit)
        turn[Symbol.dispose]()
        // the agent keeps a closed connection for the next call, unless it can't be written to
        made?.once('close', () => Object.assign(made, { writable: false }))
        opened(error, made)
      }
      const { host, port, login: isServer } = this.#address
      const alive = isServer ? keepAliveOfServer : keepAlive
      try {
        const login = { host, port, ...alive, ...sshLogin(this.#address) }
        this.#connect(login).createConnection(options, ended)
      } catch (error) {
        ended(Object.assign(error as Error, { level: 'login' })) // such as a key that can't be read
      }
    })
  }

  /** Connections are streams, not sockets. */
  override keepSocketAlive(stream: Duplex) {
    this.#idle.set(
      stream,
      setTimeout(() => stream.destroy(), idleTime),
    )
    return true
  }

  override reuseSocket(stream: Duplex) {
    clearTimeout(this.#idle.get(stream))
    stream.removeAllListeners('error').on('error', () => {}) // each earlier call has left one
  }
}
