import type { Docker } from '../../docker/index.ts'
import { EngineError } from '../../docker/index.ts'
import { Failure } from '../../platform/errors.ts'
import { report } from '../../platform/journal.ts'
import { pullImage } from '../../runtime/images/pull-image.ts'
import type { PulledImage } from '../../runtime/images/pull-image.ts'
import { privateRegistry } from '../../runtime/images/private-names.ts'
import { keyOf } from '../base-images.ts'
import type { BaseImages, WantedImage } from '../base-images.ts'
import type { Run } from '../context.ts'
import { neverAborted } from '../../platform/pause.ts'

/**
 * Keeps a build's images unchanged on the engine until disposed of. Images pulled only for builds are removed
 * then, so that the next build gets the latest ones from the registry.
 */
export class Bases implements AsyncDisposable {
  readonly #docker: Docker
  readonly #images: BaseImages
  readonly #borrowed: string[] = []
  readonly pulled = new Map<string, PulledImage>()

  constructor({ docker, baseImages }: { docker: Docker; baseImages: BaseImages }) {
    this.#docker = docker
    this.#images = baseImages
  }

  async pull(run: Run, wanted: WantedImage): Promise<PulledImage> {
    const { project, signal, log } = run
    const key = keyOf(wanted)
    const asked = {
      ...wanted,
      ownerId: project.ownerId,
      isApart: wanted.platform !== '',
      isFresh: true,
      signal,
      onPull: () => log(`Pulling ${wanted.image}`),
    }
    const name = this.#nameOf(wanted.image)
    const pulled = await this.#images.alone(name, signal, async () => {
      const pulled = await pullImage(run, asked).catch((error) => {
        throw asBase(error, wanted)
      })
      if (!isPrivate(pulled)) {
        this.#images.borrow(name, pulled)
        this.#borrowed.push(wanted.image)
      }
      return pulled
    })
    this.pulled.set(key, pulled)
    return pulled
  }

  /** Each server has its own. */
  #nameOf(image: string) {
    return `${this.#docker.serverId} ${image}`
  }

  async [Symbol.asyncDispose]() {
    for (const image of this.#borrowed)
      await this.#images.alone(this.#nameOf(image), neverAborted(), async () => {
        if (this.#images.giveBack(this.#nameOf(image)))
          await this.#docker.removeImage(image).catch(unlessRefused)
      })
  }
}

export const isPrivate = ({ name }: Pick<PulledImage, 'name'>) =>
  name.startsWith(`${privateRegistry}/`)

const pullFailures = [
  'image_not_found',
  'pull_stalled',
  'registry_unauthorized',
  'registry_unreachable',
]

function asBase(error: unknown, { image }: WantedImage) {
  if (!(error instanceof Failure && pullFailures.includes(error.code))) return error
  return new Failure(
    'base_image_not_found',
    `Build failed: the image ${image} couldn’t be pulled. ${error.message}`,
    'Check the names after FROM and --from, and that the server can reach the registry. A private registry needs a login under Settings, Registries.',
    { cause: error },
  )
}

/** A container may be using it by now; if the engine is unreachable, it still has the image later. */
function unlessRefused(error: unknown) {
  if (!(error instanceof EngineError))
    report('the base image of a build could not be removed', error)
}
