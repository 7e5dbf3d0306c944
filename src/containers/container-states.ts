import { setTimeout as sleep } from 'node:timers/promises'
import type { Container, Docker, EngineFeed } from '../docker/index.ts'
import { resync } from '../docker/index.ts'
import { SharedSource } from '../live/shared-source.ts'
import { Failure } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import { whileAlive } from '../web/within.ts'

/** Null when it was removed, `away` while the engine is unreachable. */
export type ObservedContainer = Container | null | 'away'

/** Inspects watched containers, once for all watchers of the same one. */
export class ContainerStates {
  readonly #docker: Docker
  readonly #followed: SharedSource<ObservedContainer>
  readonly #asked = new Map<string, Promise<Container | null>>()

  constructor({ docker, feed }: { docker: Docker; feed: EngineFeed }) {
    this.#docker = docker
    this.#followed = new SharedSource((id, signal) => looks({ docker, feed }, id, signal))
  }

  /** Yields the current state and then each change; null comes last. */
  follow(id: string, signal: AbortSignal): AsyncIterable<ObservedContainer> {
    return this.#followed.follow(id, signal)
  }

  /** The last known state if someone follows it; else concurrent callers share one request. */
  look(id: string): Promise<Container | null> {
    const seen = this.#followed.latest(id)
    if (seen && seen !== 'away') return Promise.resolve(seen)
    const asked =
      this.#asked.get(id) ??
      whileAlive(this.#docker, this.#docker.inspectContainer(id)).finally(() =>
        this.#asked.delete(id),
      )
    this.#asked.set(id, asked)
    return asked
  }
}

/** Milliseconds before an unreachable engine is retried: no event reports its return. */
const retryDelay = 2000

async function* looks(
  { docker, feed }: { docker: Docker; feed: EngineFeed },
  id: string,
  signal: AbortSignal,
): AsyncGenerator<ObservedContainer> {
  for await (const event of feed.listen(signal)) {
    if (event !== resync && event.id !== id) continue
    for (let tries = 0; ; tries++) {
      try {
        const found = await docker.inspectContainer(id, { signal })
        yield found
        if (!found) return
        break
      } catch (error) {
        if (signal.aborted) return
        if (tries === 0) {
          if (!(error instanceof Failure))
            report('a container could not be inspected', error, { id })
          yield 'away'
        }
        await sleep(retryDelay, undefined, { signal }).catch(() => {})
      }
    }
  }
}
