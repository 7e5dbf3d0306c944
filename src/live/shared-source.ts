import { report } from '../platform/journal.ts'
import { Hub } from './hub.ts'

type Source<Message> = { followers: number; latest?: Message; abort: AbortController }

/** Reads one source for each key for all its readers: from the first subscription until the last ends. */
export class SharedSource<Message> {
  readonly #open: (key: string, signal: AbortSignal) => AsyncIterable<Message>
  readonly #hub = new Hub<Message>()
  readonly #sources = new Map<string, Source<Message>>()

  constructor(open: (key: string, signal: AbortSignal) => AsyncIterable<Message>) {
    this.#open = open
  }

  get size() {
    return this.#sources.size
  }

  keys() {
    return this.#sources.keys()
  }

  isOpen(key: string) {
    return this.#sources.has(key)
  }

  /** The last message of an open source; undefined before its first message, and when it isn't open. */
  latest(key: string) {
    return this.#sources.get(key)?.latest
  }

  /** Yields the newest message whenever the reader continues, beginning with the latest, until the signal. */
  follow(key: string, signal: AbortSignal) {
    const source = this.#sources.get(key) ?? this.#begin(key)
    const reader = this.#hub.newest(key, signal, source.latest)
    const { leave } = reader
    source.followers++
    let isOver = false
    reader.leave = () => {
      leave()
      if (!isOver && --source.followers === 0) this.#end(key, source)
      isOver = true
    }
    if (signal.aborted) reader.leave()
    return reader
  }

  #begin(key: string) {
    const source: Source<Message> = { followers: 0, abort: new AbortController() }
    this.#sources.set(key, source)
    void this.#run(key, source)
    return source
  }

  async #run(key: string, source: Source<Message>) {
    try {
      for await (const message of this.#open(key, source.abort.signal)) {
        source.latest = message
        this.#hub.publish(key, message)
      }
    } catch (error) {
      if (!source.abort.signal.aborted) report('the source ended', error, { key })
    }
    this.#end(key, source)
  }

  #end(key: string, source: Source<Message>) {
    source.abort.abort()
    if (this.#sources.get(key) === source) this.#sources.delete(key)
  }
}
