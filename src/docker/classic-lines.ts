import type { BuildOutput } from './build.ts'
import { LineSplitter } from './lines.ts'

export type BuildLine = Extract<BuildOutput, { kind: 'line' }>

/**
 * Tells the lines of the classic builder from those of the steps it runs. All come in one stream, but
 * each thing that is written comes alone: what stands between the start of a step's container and the
 * word that it was removed is the step's, whatever it looks like.
 */
export class ClassicLines {
  readonly #splitters = {
    system: new LineSplitter(),
    stdout: new LineSplitter(),
    stderr: new LineSplitter(),
  }
  /** Of the step that runs. */
  #container: string | undefined;

  *push(written: string): Generator<BuildLine> {
    if (this.#container && removed.exec(written)?.[1] === this.#container) {
      yield* this.end() // a step's last line need not have an end
      this.#container = undefined
    }
    const error = red.exec(written)?.[1]
    const stream = error !== undefined ? 'stderr' : this.#container ? 'stdout' : 'system'
    for (const text of this.#splitters[stream].pushText(error ?? written))
      yield { kind: 'line', stream, text }
    this.#container ??= started.exec(written)?.[1]
  }

  /** What is left when nothing more will come. */
  *end(): Generator<BuildLine> {
    for (const stream of ['system', 'stdout', 'stderr'] as const)
      for (const text of this.#splitters[stream].end()) yield { kind: 'line', stream, text }
  }
}

const started = /^ ---> Running in ([0-9a-f]+)\n$/
const removed = /^(?:Removing|Error removing) intermediate container ([0-9a-f]+)/

// The builder draws what a step writes to stderr in red, which is all that tells it apart.
const red = /^\x1b\[91m([^]*)\x1b\[0m$/
