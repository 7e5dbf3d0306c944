import { z } from 'zod'
import type { Attached, TerminalSize } from '../../docker/index.ts'
import { journal } from '../../platform/journal.ts'
import { problemOf } from '../../web/problem.ts'
import { sessionCheck } from '../../web/streams.ts'
import type { Peer, Socket } from '../../web/web-socket.ts'
import { jsonOrNull } from '../../platform/json.ts'

/** Text messages of a client; binary messages are its input. */
const control = z.object({
  resize: z.tuple([z.int().min(1).max(1000), z.int().min(1).max(1000)]).optional(),
  /** Bytes drawn so far. Once a client reports this, no more than a window beyond it is sent. */
  drawn: z.int().min(0).optional(),
  end: z.literal(true).optional(),
})

/** Limits in bytes: sent but not drawn yet, and in the socket's own buffer. */
const window = { drawn: 256 * 1024, buffered: 64 * 1024 }

/** In bytes. One read of a busy terminal can be longer than the whole window. */
const largestMessage = 16 * 1024

/** Bytes of input that no program has read. A client that respects acknowledgements stays well below. */
const maxWaiting = 1024 * 1024

/** Bytes of input after which a client gets an acknowledgement. */
const takenStep = 16 * 1024

/** Close codes of WebSockets (RFC 6455, section 7.4.1). */
const codes = { ended: 1000, notAllowed: 1008, badMessage: 1007, restart: 1012, failed: 1011 }

export type TerminalEnd = { text: string; exitCode: number | null }

type Options<Opened> = {
  /** The signal aborts when the client has left or may no longer stay. */
  open: (signal: AbortSignal) => Promise<Opened>
  ended: (opened: Opened) => Promise<TerminalEnd>
  /** False once the user has lost access. */
  isAllowed: () => boolean
  shutdown: AbortSignal
  opened: () => void
  /** Only called if it was opened. Gets the milliseconds that it was open. */
  closed: (milliseconds: number) => void
  /** Called last, when nothing runs any more. */
  left: () => void
}

/** Relays bytes between a socket and a terminal, no faster than either side reads, until one of them ends. */
export class TerminalRelay<Opened extends Attached = Attached> implements Peer {
  readonly #options: Options<Opened>
  readonly #over = new AbortController()
  #socket: Socket | null = null
  #terminal: Attached | null = null
  #wake = () => {}
  #early: Uint8Array[] = []
  #size: TerminalSize | null = null
  #isResizing = false
  #isTyped = false
  #sent = 0
  #drawn: number | null = null
  #typed = 0
  #taken = 0
  #told = 0

  constructor(options: Options<Opened>) {
    this.#options = options
  }

  open(socket: Socket) {
    this.#socket = socket
    this.#run().catch((error) => journal.error('terminal failed', error))
  }

  message(data: string | Buffer) {
    if (typeof data === 'string') this.#obey(data)
    else this.#type(new Uint8Array(data))
  }

  drain() {
    this.#wake()
  }

  close() {
    this.#over.abort()
    this.#wake()
  }

  /** Sends the reason and closes the socket, which also ends the terminal's programs. */
  end = (text: string, code: keyof typeof codes, more: { exitCode?: number | null } = {}) => {
    if (this.#over.signal.aborted) return
    this.#socket?.sendText(JSON.stringify({ ended: text, ...more }))
    this.#socket?.close(codes[code])
    this.close()
  }

  recheck = () => {
    if (this.#options.shutdown.aborted) this.end('Davit restarts.', 'restart')
    else if (!this.#options.isAllowed()) this.end('Your access has ended.', 'notAllowed')
  }

  async #run() {
    const { open, left, shutdown } = this.#options
    const { signal } = this.#over
    const clock = setInterval(this.recheck, sessionCheck)
    shutdown.addEventListener('abort', this.recheck, { once: true, signal })
    try {
      this.recheck()
      if (signal.aborted) return
      const opened = await open(signal)
      this.#terminal = opened
      await this.#use(opened)
    } catch (error) {
      this.#fail(error)
    } finally {
      clearInterval(clock)
      left()
    }
  }

  async #use(terminal: Opened) {
    const startedAt = performance.now()
    try {
      this.#options.opened()
      await this.#relay(terminal)
    } catch (error) {
      this.#fail(error)
    } finally {
      await terminal.close().catch((error) => {
        journal.error('programs of a closed terminal may still run', error)
      })
      this.#options.closed(performance.now() - startedAt)
    }
  }

  async #relay(terminal: Opened) {
    for (const input of this.#early.splice(0)) this.#pass(input)
    if (this.#isTyped) terminal.end?.()
    void this.#resize()
    for await (const bytes of terminal.output)
      for (let at = 0; at < bytes.length; at += largestMessage) {
        await this.#room()
        if (this.#over.signal.aborted) return
        const part = bytes.subarray(at, at + largestMessage)
        this.#socket!.sendBinary(part)
        this.#sent += part.length
      }
    if (this.#over.signal.aborted) return
    const { text, exitCode } = await this.#options.ended(terminal)
    this.end(text, 'ended', { exitCode })
  }

  /** Waits until the client has caught up, which blocks the program that writes. */
  async #room() {
    while (!this.#over.signal.aborted && this.#isFull()) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
  }

  #isFull() {
    if (this.#socket!.getBufferedAmount() > window.buffered) return true
    return this.#drawn !== null && this.#sent - this.#drawn > window.drawn
  }

  #obey(text: string) {
    const said = control.safeParse(jsonOrNull(text))
    if (!said.success)
      return this.end('A text must be JSON such as {"resize":[80,24]}.', 'badMessage')
    const { resize, drawn, end } = said.data
    if (end) {
      this.#isTyped = true
      this.#terminal?.end?.()
    }
    if (resize) {
      this.#size = { columns: resize[0], rows: resize[1] }
      void this.#resize()
    }
    if (drawn !== undefined) {
      this.#drawn = drawn
      this.#wake()
    }
  }

  /** One at a time; of several that wait, only the newest is applied. */
  async #resize() {
    if (this.#isResizing || !this.#terminal) return
    this.#isResizing = true
    while (this.#size && !this.#over.signal.aborted) {
      const size = this.#size
      this.#size = null
      await this.#terminal.resize(size).catch(() => {}) // the shell has just ended
    }
    this.#isResizing = false
  }

  #type(input: Uint8Array) {
    this.#typed += input.length
    if (this.#typed - this.#taken > maxWaiting)
      return this.end(
        'The program in this terminal doesn’t read input. Open the terminal again.',
        'ended',
      )
    if (this.#terminal) this.#pass(input)
    else this.#early.push(input)
  }

  #pass(input: Uint8Array) {
    this.#terminal!.write(input, () => {
      this.#taken += input.length
      if (this.#taken - this.#told < takenStep || this.#over.signal.aborted) return
      this.#told = this.#taken
      this.#socket!.sendText(JSON.stringify({ taken: this.#taken }))
    })
  }

  #fail(error: unknown) {
    if (error === this.#over.signal.reason) return // the client left
    const { detail, isLogged } = problemOf(error as Error)
    if (isLogged) journal.error('terminal failed', error)
    this.end(detail, 'failed')
  }
}
