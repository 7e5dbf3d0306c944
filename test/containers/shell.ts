import { onTestFinished } from 'bun:test'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { listening } from '../support/listening.ts'
import { aSession } from '../support/session.ts'
import { comesTrue, until } from '../support/until.ts'

type Options = { headers?: Record<string, string>; server?: { port?: number | undefined } }

/** A terminal in a container as a program has it, which reads all and says nothing that it needn't. */
export class Shell {
  text = ''
  received = 0
  ended: string | null = null
  exitCode: number | null = null
  closed: number | null = null
  readonly #socket: WebSocket

  constructor(url: string, headers: Record<string, string>) {
    const socket = new WebSocket(url, { headers } as never)
    socket.binaryType = 'arraybuffer'
    socket.onmessage = ({ data }) => this.#take(data)
    socket.onclose = ({ code }) => (this.closed = code)
    this.#socket = socket
  }

  #take(data: string | ArrayBuffer) {
    if (typeof data === 'string') {
      const { ended = this.ended, exitCode = null } = JSON.parse(data)
      this.ended = ended
      this.exitCode = exitCode
      return
    }
    this.received += data.byteLength
    this.text = (this.text + Buffer.from(data).toString()).slice(-100_000)
  }

  type(text: string) {
    this.#socket.send(Buffer.from(text))
  }

  say(message: object) {
    this.#socket.send(JSON.stringify(message))
  }

  /** Resizes a terminal of a shell; the engine learns of it apart from what is typed, so the shell waits for it. */
  async resize(columns: number, rows: number) {
    this.say({ resize: [columns, rows] })
    this.type(
      `until [ "$(stty size)" = "${rows} ${columns}" ]; do usleep 9999; done; echo it-"is"-so\n`,
    )
    await this.shows('it-is-so')
  }

  close() {
    this.#socket.close()
  }

  get isOpen() {
    return this.#socket.readyState === WebSocket.OPEN
  }

  async shows(text: string | RegExp) {
    const isShown = await comesTrue(30, () => {
      if (this.closed !== null) throw new Error(`Closed: ${this.closed} ${this.ended}`)
      return typeof text === 'string' ? this.text.includes(text) : text.test(this.text)
    })
    const seen = JSON.stringify(this.text.slice(-500))
    if (!isShown) throw new Error(`The terminal does not show ${text}: ${seen}`)
  }

  async ends() {
    await until(() => this.closed !== null)
    return this.ended
  }
}

/** Opens a terminal with a session of the client. */
export function openShell(
  t: TestApp,
  client: TestClient,
  id: string,
  { headers, server = listening(t) }: Options = {},
) {
  const shell = new Shell(`ws://127.0.0.1:${server.port}/containers/${id}/terminal`, {
    Cookie: `svc_session=${aSession(t, client.user.id)}`,
    ...headers,
  })
  onTestFinished(async () => {
    shell.close()
    await until(() => t.streams.size === 0)
  })
  return shell
}
