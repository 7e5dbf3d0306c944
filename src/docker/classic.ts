import type { BuildOutput } from './build.ts'
import { BuildError, isClue } from './build-error.ts'
import { LineSplitter } from './lines.ts'

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
  const splitter = new LineSplitter()
  let image: string | undefined
  let step: string | null = null
  let clue: string | null = null
  for await (const { stream, status, id, progressDetail, aux, errorDetail } of messages) {
    if (stream) {
      for (const text of splitter.push(Buffer.from(stream))) {
        const line = toLine(text)
        if (/^Step \d+\/\d+ : /.test(text)) [step, clue] = [text, null]
        else if (isClue(line.text)) clue = line.text
        if (text !== '') yield line
      }
    }
    const moving = progressDetail && Object.keys(progressDetail).length > 0
    if (status && !moving && !fleeting.has(status)) {
      yield { kind: 'line', stream: 'system', text: id ? `${id}: ${status}` : status }
    }
    image = aux?.ID ?? image
    if (errorDetail) {
      for (const text of splitter.end()) yield toLine(text)
      throw new BuildError(errorDetail.message, { step, clue })
    }
  }
  for (const text of splitter.end()) yield toLine(text)
  if (image) yield { kind: 'image', id: image }
}

/** What each layer of a pull passes through before the two lines worth reading. */
const fleeting = new Set(['Waiting', 'Pulling fs layer', 'Verifying Checksum', 'Download complete'])

const ownLine =
  /^(Step \d+\/\d+ : | ---> |Removing intermediate container |Successfully |\[Warning\])/

// The builder draws what a step writes to stderr in red, which is all that tells it apart.
const red = /^\x1b\[91m(.*?)(\x1b\[0m)?$/

function toLine(line: string): Extract<BuildOutput, { kind: 'line' }> {
  // The end of the red stands at the beginning of the line that follows.
  const text = line.replace(/^(\x1b\[0m)+/, '')
  if (ownLine.test(text)) return { kind: 'line', stream: 'system', text }
  const error = red.exec(text)
  if (error) return { kind: 'line', stream: 'stderr', text: error[1]! }
  return { kind: 'line', stream: 'stdout', text }
}
