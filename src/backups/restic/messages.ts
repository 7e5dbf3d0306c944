import { cutLine } from '../../docker/index.ts'
import { LineSplitter } from '../../docker/lines.ts'
import { jsonOrNull } from '../../platform/json.ts'

export type Progress = {
  /** Bytes of the data that were read. */
  bytes: number
  /** Null while it is unknown, as for a stream. */
  total: number | null
}

type Message = { message_type?: string } & Record<string, unknown>

/** Characters of a line: a list of all snapshots is one. */
const longest = 64 * 2 ** 20

/** Texts that are kept, and their length: restic repeats itself. */
const maxTexts = 50
const mostCharacters = 2000

/** What restic prints with `--json`: an object a line, or a list, and texts in between. */
export class Messages {
  /** Lines that aren't JSON, and the messages of errors. */
  readonly texts: string[] = []
  /** What it says of a snapshot that it made. */
  summary: Message = {}
  list: unknown[] = []
  onProgress = () => {}
  /** Called when restic will try a request again. */
  onRetry = (_count: number) => {}
  #retries = 0
  readonly #progress
  #status = ''

  constructor(progress: ((progress: Progress) => void) | undefined) {
    this.#progress = progress
  }

  async readAll(from: AsyncIterable<Uint8Array>) {
    const lines = new LineSplitter(longest)
    for await (const chunk of from) for (const line of lines.push(chunk)) this.#take(line)
    for (const line of lines.end()) this.#take(line)
  }

  readonly #ofStderr = new LineSplitter(longest)

  pushStderr(bytes: Uint8Array) {
    for (const line of this.#ofStderr.push(bytes)) this.#take(line)
  }

  /** True when something couldn't be removed: restic 0.18 ends with exit code 0 all the same. */
  get hasLeft() {
    return this.texts.some((text) => /^unable to remove |^Remove\(<.*\) failed/.test(text))
  }

  /** Takes what the engine says, in place of restic. */
  end(text = '') {
    for (const line of [...this.#ofStderr.end(), ...text.split('\n')]) this.#take(line)
  }

  #take(line: string) {
    if (line.trim() === '') return
    const parsed = parse(line)
    if (Array.isArray(parsed)) this.list = parsed
    else if (parsed) this.#takeObject(parsed)
    else this.#say(line)
    if (!isStatus(parsed) && !isRetry(line)) this.onProgress()
  }

  #takeObject(message: Message) {
    const { message_type: type = '' } = message
    if (isStatus(message)) {
      const { bytes_done, bytes_restored = bytes_done, total_bytes } = message
      const bytes = Number(bytes_restored ?? 0)
      const now = JSON.stringify([bytes, message.files_done, message.percent_done])
      if (now !== this.#status) this.onProgress()
      this.#status = now
      this.#progress?.({ bytes, total: Number(total_bytes ?? 0) || null })
      return
    }
    if (type === 'summary') this.summary = message
    const { message: text, error, item } = message as { error?: { message?: string } } & Message
    if (type === 'exit_error') this.#say(String(text))
    if (type === 'error') this.#say([item, error?.message].filter(Boolean).join(': '))
  }

  #say(text: string) {
    for (const line of text.split('\n'))
      if (line.trim() !== '' && !isOfStack(line))
        this.texts.push(cutLine(line, mostCharacters)[0]!.trim())
    // the first and the last ones say most
    if (this.texts.length > maxTexts) this.texts.splice(maxTexts / 2, this.texts.length - maxTexts)
    if (isRetry(text)) this.onRetry(++this.#retries)
  }
}

/** A line of where in its code restic failed. */
const isOfStack = (line: string) => /\.(go|s):\d+\b|^(main|runtime)\.\S+$|^goroutine \d/.test(line)

const isRetry = (line: string) => line.includes(', retrying after ')

const isStatus = (parsed: unknown) => (parsed as Message | null)?.message_type === 'status'

/** Null for a text, such as the progress `[0:01] 100.00%`. */
const parse = (line: string) =>
  (/^[[{]/.test(line) ? jsonOrNull(line) : null) as Message | unknown[] | null
