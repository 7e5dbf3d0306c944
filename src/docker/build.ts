import { Readable } from 'node:stream'
import type { Engine } from './engine.ts'
import { BuildError } from './build-error.ts'
import { readBuildKit } from './buildkit.ts'
import { readClassic } from './classic.ts'
import { EngineError } from './failures.ts'
import { speaksBuildKit } from './info.ts'
import { readJsonLines } from './json-lines.ts'

export type BuildOptions = {
  /** A tar archive, read no faster than the engine takes it; cancelled when the build ends early. */
  context: ReadableStream<Uint8Array>
  /** Path within the context. */
  dockerfile: string
  tag: string
  labels?: Record<string, string>
  buildArgs?: Record<string, string>
  /** `auto` is BuildKit where the engine has it. */
  builder?: 'auto' | 'buildkit' | 'classic'
  signal?: AbortSignal | undefined
}

export type BuildOutput =
  | { kind: 'line'; stream: 'system' | 'stdout' | 'stderr'; text: string }
  | { kind: 'image'; id: string }

/**
 * Builds an image and yields its output as it happens, then the image's id. Aborting, or leaving
 * the loop, ends the build on the engine. A build that fails throws a BuildError;
 * a context that breaks off, its own error.
 */
export async function* buildImage(
  engine: Engine,
  { context, builder = 'auto', signal, ...options }: BuildOptions,
): AsyncGenerator<BuildOutput> {
  const upload = new Upload(context)
  try {
    const buildKit =
      builder === 'buildkit' || (builder === 'auto' && (await speaksBuildKit(engine, { signal })))
    const query = { ...buildQuery(options), version: buildKit ? '2' : undefined }
    const bytes = engine.stream('POST', '/build', { query, upload: upload.readable, signal })
    const messages = readJsonLines<never>(bytes)
    let complete = false
    for await (const item of buildKit ? readBuildKit(messages) : readClassic(messages)) {
      complete = item.kind === 'image'
      yield item
    }
    if (!complete) throw engine.hungUp()
  } catch (error) {
    signal?.throwIfAborted()
    throw upload.failure ?? asBuildError(error)
  } finally {
    upload.readable.destroy()
  }
}

function buildQuery(options: Omit<BuildOptions, 'context' | 'builder' | 'signal'>) {
  const { dockerfile, tag, labels = {}, buildArgs = {} } = options
  return {
    dockerfile,
    t: tag,
    labels,
    buildargs: buildArgs,
    // Containers of steps that failed or were cancelled go too.
    rm: true,
    forcerm: true,
  }
}

/** The classic builder refuses a bad Dockerfile before it begins to answer. */
const asBuildError = (error: unknown) =>
  error instanceof EngineError && !(error instanceof BuildError)
    ? new BuildError(error.message, { status: error.status })
    : error

/** The context on its way to the engine; remembers if it was the context that failed. */
class Upload {
  readonly readable: Readable
  failure: unknown

  constructor(context: ReadableStream<Uint8Array>) {
    this.readable = Readable.fromWeb(context as never)
    this.readable.on('error', (error) => (this.failure ??= error))
  }
}
