import { connect } from 'node:net'

/** A reader on a connection of its own that reads only when it is told to, and counts what it gets. */
export class LogReader {
  readonly #socket
  readonly #ended = Promise.withResolvers<void>()
  #rest = ''
  /** The id of the last line. */
  last = 0
  /** Lines that were not in their place. */
  wrong = 0

  constructor(address: string, authorization: string) {
    const { hostname, port, host, pathname, search } = new URL(address)
    this.#socket = connect({ host: hostname, port: Number(port) }).pause()
    this.#socket.on('data', (bytes: Buffer) => this.#read(bytes.toString('latin1')))
    this.#socket.on('close', () => this.#ended.resolve())
    this.#socket.on('error', () => this.#ended.resolve())
    this.#socket.pause() // to listen is to read
    const head = [`GET ${pathname}${search} HTTP/1.1`, `Host: ${host}`, 'Accept: text/event-stream']
    this.#socket.write([...head, `Authorization: ${authorization}`, '', ''].join('\r\n'))
  }

  /** Reads on, to the end of the log. */
  async read() {
    this.#socket.resume()
    await this.#ended.promise
  }

  leave() {
    this.#socket.destroy()
  }

  #read(text: string) {
    const all = this.#rest + text
    const end = all.lastIndexOf('\n\n') + 2
    const whole = all.slice(0, end)
    for (const [, id] of whole.matchAll(/^id: (\d+)$/gm)) {
      if (Number(id) !== ++this.last) this.wrong++
    }
    this.#rest = all.slice(end)
    if (whole.includes('event: done\n')) this.leave()
  }
}
