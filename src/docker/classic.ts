import type { BuildOutput } from './build.ts'
import { BuildError, isClue } from './build-error.ts'
import { ClassicLines } from './classic-lines.ts'
import type { BuildLine } from './classic-lines.ts'

export type ClassicMessage = {
  stream?: string
  /** Of a pull: `Downloading`, with the layer as id. */
  status?: string
  id?: string
  progressDetail?: object
  aux?: { ID?: string }
  errorDetail?: { message: string }
}

/** The output of the classic builder as lines, and the image at its end. */
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

/** What each layer of a pull passes through before the two lines worth reading. */
const fleeting = new Set(['Waiting', 'Pulling fs layer', 'Verifying Checksum', 'Download complete'])
