import { BuildError, isClue } from './build-output.ts'
import type { BuildOutput } from './build-output.ts'
import { readTrace } from './buildkit-trace.ts'
import type { Trace, Vertex, VertexLog, VertexStatus, VertexWarning } from './buildkit-trace.ts'
import { cutLine, LineSplitter, usualLength } from './lines.ts'

export type BuildKitMessage = {
  id?: string
  aux?: string | { ID: string }
  errorDetail?: { message: string }
}

/** Yields the progress of a BuildKit build as lines, then its image. */
export async function* readBuildKit(
  messages: AsyncIterable<BuildKitMessage>,
): AsyncGenerator<BuildOutput> {
  const progress = new BuildKitProgress()
  let image: string | undefined
  for await (const { id, aux, errorDetail } of messages) {
    if (errorDetail) {
      const { failedStep: step, clue } = progress
      throw new BuildError(errorDetail.message, { step, clue })
    }
    if (id === 'moby.buildkit.trace') {
      yield* progress.read(readTrace(Buffer.from(aux as string, 'base64')))
    }
    if (id === 'moby.image.id') image = (aux as { ID: string }).ID
  }
  if (image) yield { kind: 'image', id: image }
}

type Line = Extract<BuildOutput, { kind: 'line' }>

type Step = {
  /** The start of each of its lines, also of the pieces of a long one. */
  prefix: string
  name: string
  ended: boolean
  outputs: Record<'stdout' | 'stderr', LineSplitter>
  /** When progress was last reported, in seconds. */
  reportedAt: number
  /** The last line that may explain a failure of the step. */
  clue: string | null
  isClipped: boolean
}

/** Seconds between two lines about a running pull. */
const progressInterval = 10

/** Renders a build's trace as lines, like docker's plain progress. */
export class BuildKitProgress {
  readonly #names = new Map<string, string>()
  readonly #steps = new Map<string, Step>()
  readonly #reported = new Set<string>()
  #failed: string | null = null

  get failedStep() {
    return this.#failed === null ? null : (this.#names.get(this.#failed) ?? null)
  }

  /** The line of that step's output that may explain the failure. */
  get clue() {
    return this.#failed === null ? null : (this.#steps.get(this.#failed)?.clue ?? null)
  }

  *read({ vertexes, statuses, logs, warnings }: Trace): Generator<Line> {
    for (const vertex of vertexes) {
      this.#names.set(vertex.digest, vertex.name)
      if (vertex.started !== null) yield* this.#begin(vertex.digest)
    }
    for (const status of statuses) yield* this.#renderStatus(status)
    for (const log of logs) yield* this.#renderLog(log)
    for (const warning of warnings) yield* this.#renderWarning(warning)
    // last, because the output of a step may arrive together with its end
    for (const vertex of vertexes) yield* this.#end(vertex)
  }

  /** A step gets its number and name with its first line. */
  *#begin(digest: string): Generator<Line, Step> {
    const known = this.#steps.get(digest)
    if (known) return known
    const prefix = `#${this.#steps.size + 1} `
    const room = usualLength - prefix.length
    const step: Step = {
      prefix,
      name: this.#names.get(digest) ?? '',
      ended: false,
      outputs: { stdout: new LineSplitter(room), stderr: new LineSplitter(room) },
      reportedAt: 0,
      clue: null,
      isClipped: false,
    }
    this.#steps.set(digest, step)
    yield* lines(step, step.name)
    return step
  }

  *#end({ digest, completed, started, cached, error }: Vertex): Generator<Line> {
    if (error) this.#failed ??= digest
    if (completed === null && !error) return
    const step = yield* this.#begin(digest)
    if (step.ended && !error) return
    step.ended = true
    for (const stream of ['stdout', 'stderr'] as const) {
      for (const text of step.outputs[stream].end()) yield* this.#renderOutput(step, text, stream)
    }
    if (/context canceled$/.test(error)) yield* lines(step, 'CANCELED')
    else if (error) yield* lines(step, `ERROR: ${error}`)
    else if (cached) yield* lines(step, 'CACHED')
    else yield* lines(step, `DONE ${seconds(completed! - (started ?? completed!))}`)
  }

  *#renderLog({ vertex, stream, bytes }: VertexLog): Generator<Line> {
    const step = yield* this.#begin(vertex)
    const name = stream === 2 ? 'stderr' : 'stdout'
    for (const text of step.outputs[name].push(bytes)) yield* this.#renderOutput(step, text, name)
  }

  *#renderOutput(step: Step, text: string, stream: 'stdout' | 'stderr'): Generator<Line> {
    if (isClue(text)) step.clue = text
    yield* lines(step, text, stream)
    const limit = clipped.exec(text)?.[1]
    if (!limit || step.isClipped) return
    step.isClipped = true
    yield* lines(step, `Output is missing here: BuildKit keeps only ${limit} of a step.`)
  }

  *#renderStatus(status: VertexStatus): Generator<Line> {
    const { vertex, id, name, current, total, started, completed, timestamp } = status
    const step = yield* this.#begin(vertex)
    const now = timestamp ?? completed ?? 0
    const key = `${vertex} ${id}`
    if (this.#reported.has(key)) return
    if (completed === null) {
      step.reportedAt ||= now
      if (now - step.reportedAt < progressInterval) return
    } else this.#reported.add(key)
    step.reportedAt = now
    const amount = total ? `${size(current)} / ${size(total)}` : current ? size(current) : ''
    const end = completed === null ? '' : `${seconds(completed - (started ?? completed))} done`
    // the id of a layer says more than the verb beside it
    yield* lines(step, [id || name, amount, end].filter(Boolean).join(' '))
  }

  *#renderWarning({ vertex, short, url }: VertexWarning): Generator<Line> {
    const step = yield* this.#begin(vertex)
    yield* lines(step, `WARN: ${short}${url ? ` (${url})` : ''}`)
  }
}

/** BuildKit's message when it drops output, because a step writes too much or too fast. */
const clipped = /^\[output clipped, log limit (\S+) reached\]$/

/** Cuts long lines here, so that each piece starts with its step and isn't cut again. */
const lines = ({ prefix }: Step, text: string, stream: Line['stream'] = 'system'): Line[] =>
  cutLine(text, usualLength - prefix.length).map((piece) => ({
    kind: 'line',
    stream,
    text: prefix + piece,
  }))

const seconds = (duration: number) => `${Math.max(0, duration).toFixed(1)}s`

function size(bytes: number) {
  const units = ['B', 'kB', 'MB', 'GB']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return `${Number((bytes / 1000 ** power).toFixed(2))}${units[power]}`
}
