import { BuildError, isClue } from './build-output.ts'
import type { BuildOutput } from './build-output.ts'
import { LineSplitter } from './lines.ts'

type BuildLine = Extract<BuildOutput, { kind: 'line' }>

export type ClassicMessage = {
  stream?: string
  /** For a pull such as `Downloading`, with the layer as id. */
  status?: string
  id?: string
  progressDetail?: object
  aux?: { ID?: string }
  errorDetail?: { message: string }
}

/** Yields the output of the classic builder as lines, then its image. */
export async function* readClassic(
  messages: AsyncIterable<ClassicMessage>,
): AsyncGenerator<BuildOutput> {
  const lines = new ClassicLines()
  let image: string | undefined
  let step: string | null = null
  let clue: string | null = null
  for await (const { stream, status, id, progressDetail, aux, errorDetail } of messages) {
    for (const line of stream ? lines.push(stream) : []) yield noted(line)
    const moving = progressDetail && Object.keys(progressDetail).length > 0
    if (status && !moving && !fleeting.has(status)) {
      yield { kind: 'line', stream: 'system', text: id ? `${id}: ${status}` : status }
    }
    image = aux?.ID ?? image
    if (errorDetail) {
      for (const line of lines.end()) yield noted(line)
      throw new BuildError(errorDetail.message, { step, clue })
    }
  }
  yield* lines.end()
  if (image) yield { kind: 'image', id: image }

  function noted(line: BuildLine) {
    if (line.stream === 'system' && /^Step \d+\/\d+ : /.test(line.text))
      [step, clue] = [line.text, null]
    else if (isClue(line.text)) clue = line.text
    return line
  }
}

/** Statuses of a pulled layer that aren't worth a line. */
const fleeting = new Set(['Waiting', 'Pulling fs layer', 'Verifying Checksum', 'Download complete'])

/**
 * Separates the lines of the classic builder from those of its steps. All arrive in one stream, but each
 * write arrives separately: what arrives between the start of a step's container and the message of its
 * removal is the step's, whatever it looks like.
 */
class ClassicLines {
  readonly #splitters = {
    system: new LineSplitter(),
    stdout: new LineSplitter(),
    stderr: new LineSplitter(),
  }
  /** The container of the running step. */
  #container: string | undefined;

  *push(written: string): Generator<BuildLine> {
    if (this.#container && removed.exec(written)?.[1] === this.#container) {
      yield* this.end() // a step's last line may lack a line break
      this.#container = undefined
    }
    const error = red.exec(written)?.[1]
    const stream = error !== undefined ? 'stderr' : this.#container ? 'stdout' : 'system'
    for (const text of this.#splitters[stream].pushText(error ?? written))
      yield { kind: 'line', stream, text }
    this.#container ??= started.exec(written)?.[1]
  }

  /** Call it at the end of the stream, for incomplete lines. */
  *end(): Generator<BuildLine> {
    for (const stream of ['system', 'stdout', 'stderr'] as const)
      for (const text of this.#splitters[stream].end()) yield { kind: 'line', stream, text }
  }
}

const started = /^ ---> Running in ([0-9a-f]+)\n$/
const removed = /^(?: ---> Removed|Removing|Error removing) intermediate container ([0-9a-f]+)/

// the builder colours a step's stderr red, the only way to recognise it
const red = /^\x1b\[91m([^]*)\x1b\[0m$/
