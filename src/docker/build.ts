import { Readable } from 'node:stream'
import type { Engine } from './engine.ts'
import type { BuildCaps } from './build-caps.ts'
import { classicCaps } from './build-caps.ts'
import { BuildError } from './build-output.ts'
import type { BuildOutput } from './build-output.ts'
import type { BuildKitCaps } from './buildkit-caps.ts'
import { capBuildKit } from './buildkit-caps.ts'
import { readClassic } from './classic.ts'
import { EngineError } from './failures.ts'
import { buildsWithBuildKit } from './info.ts'
import type { Builder } from './info.ts'
import { readJsonLines } from './lines.ts'

export type BuildOptions = {
  /** A tar archive, read with backpressure; cancelled when the build ends early. */
  context: ReadableStream<Uint8Array>
  /** Path within the context. */
  dockerfile: string
  tag: string
  /** The stage to build; by default the last one. */
  target?: string | undefined
  labels?: Record<string, string>
  buildArgs?: Record<string, string>
  /** Builds with another namespace, or none, don't share cache mounts. The classic builder has none. */
  cacheNamespace?: string
  /** True to run every step, even if the engine has its result. Default: false. */
  noCache?: boolean
  /** True for access to the engine's default bridge. Default: true. */
  network?: boolean
  builder?: Builder
  /** A build that needs more fails. */
  caps?: BuildCaps | undefined
  signal?: AbortSignal | undefined
}

/**
 * Builds an image and yields its output as it arrives, then the image's id. Aborting, or leaving the loop,
 * ends the build on the engine. Throws a BuildError when the build fails, and the context's own error when
 * that breaks off.
 */
export async function* buildImage(
  engine: Engine,
  { context, builder = 'auto', caps, signal, ...options }: BuildOptions,
): AsyncGenerator<BuildOutput> {
  const { dockerfile, tag, labels = {}, buildArgs, cacheNamespace, network = true } = options
  const upload = Readable.fromWeb(context as never)
  let broken: unknown // the context's error, which explains why it ended
  upload.on('error', (error) => (broken ??= error))
  try {
    const buildKit = await buildsWithBuildKit(engine, { builder, signal })
    using holding = buildKit && caps ? await capBuildKit(engine, caps, { signal }) : null
    const steering = buildKit && cacheNamespace && { BUILDKIT_CACHE_MOUNT_NS: cacheNamespace }
    const query = {
      dockerfile,
      t: tag,
      target: options.target,
      labels,
      buildargs: { ...buildArgs, ...steering },
      networkmode: network ? undefined : 'none',
      nocache: options.noCache || undefined,
      // also removes the containers of steps that failed or were cancelled
      rm: true,
      forcerm: true,
      ...(buildKit ? { version: '2' } : caps && classicCaps(caps)),
    }
    const bytes = engine.stream('POST', '/build', { query, upload, signal })
    const messages = readJsonLines<never>(bytes)
    const output = buildKit
      ? (await import('./buildkit.ts')).readBuildKit(messages)
      : readClassic(messages)
    yield* wholly(engine, caps ? underCaps(output, { caps, holding }) : output)
  } catch (error) {
    signal?.throwIfAborted()
    throw broken ?? asBuildError(error)
  } finally {
    upload.destroy()
  }
}

/** Throws if the output ends without an image. */
async function* wholly(engine: Engine, output: AsyncIterable<BuildOutput>) {
  let complete = false
  for await (const item of output) {
    complete = item.kind === 'image'
    yield item
  }
  if (!complete) throw engine.hungUp()
}

async function* underCaps(
  output: AsyncIterable<BuildOutput>,
  { caps, holding }: { caps: BuildCaps; holding: BuildKitCaps | null },
): AsyncGenerator<BuildOutput> {
  let isReported = false
  try {
    for await (const item of output) {
      if (holding?.failure && !isReported) yield { kind: 'uncapped', why: holding.failure }
      isReported ||= !!holding?.failure
      yield item
    }
  } catch (error) {
    if (error instanceof BuildError && !holding?.failure) error.memoryCap = caps.memoryBytes
    throw error
  }
}

/** The classic builder refuses an invalid Dockerfile before its response begins. */
const asBuildError = (error: unknown) =>
  error instanceof EngineError && !(error instanceof BuildError)
    ? new BuildError(error.message, { status: error.status })
    : error
