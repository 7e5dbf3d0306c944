import { EngineError } from '../../../src/docker/index.ts'
import type { Docker } from '../../../src/docker/index.ts'
import type { FakeEngine } from './engine.ts'
import { imageView, passes } from './views.ts'

type Abortable = { signal?: AbortSignal | undefined }
type Turn = <T>(call: string, options: Abortable, work: () => T) => Promise<T>

/** What the product asks of an engine about its images. */
export const imageCalls = (
  engine: FakeEngine,
  {
    get,
    put,
    unlessMissing,
  }: { get: Turn; put: Turn; unlessMissing: (work: () => void) => () => boolean },
) =>
  ({
    imageDigest: (ref, options = {}) => get(`digest ${ref}`, options, () => `sha256:${ref}`),
    checkRegistry: (_, options = {}) => get('check registry', options, () => undefined),
    pushImage: (ref, options) =>
      put(`push ${ref}`, options, () => {
        if (!engine.image(ref)) throw new EngineError(404, `No such image: ${ref}`)
        return `sha256:${'d'.repeat(64)}`
      }),
    inspectImage: (ref, options = {}) =>
      get(`inspect image ${ref}`, options, () => {
        const image = engine.image(ref)
        return image ? imageView(image) : null
      }),
    hasImage: (ref, options = {}) => get(`has image ${ref}`, options, () => !!engine.image(ref)),
    listImages: ({ labels = [], ...options } = {}) =>
      get('list images', options, () =>
        [...engine.images.values()].filter((one) => passes(one.labels, labels)).map(imageView),
      ),
    tagImage: (id, name) =>
      put(`tag ${name}`, {}, () => {
        const image = engine.image(id)
        if (!image) throw new EngineError(404, `No such image: ${id}`)
        engine.tag(image, name)
      }),
    async *saveImage(ref, options = {}) {
      const image = await get(`save image ${ref}`, options, () => engine.image(ref)!)
      yield Buffer.from(JSON.stringify({ ...image, tags: [ref] }))
    },
    async loadImage(archive, options = {}) {
      const image = JSON.parse(Buffer.concat(await Array.fromAsync(archive)).toString())
      await put('load image', options, () => void engine.addImage(image))
    },
    removeImage: (ref, { force = false, ...options } = {}) =>
      put(
        `remove image ${ref}`,
        options,
        unlessMissing(() => engine.removeImage(ref, { force })),
      ),
  }) satisfies Partial<Docker>
