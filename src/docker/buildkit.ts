import type { BuildOutput } from './build.ts'
import { BuildError } from './build-error.ts'
import { BuildKitProgress } from './buildkit-progress.ts'
import { readTrace } from './buildkit-trace.ts'

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
