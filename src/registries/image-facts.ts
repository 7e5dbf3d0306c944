import { z } from 'zod'
import type { Machine } from '../docker/engine.ts'
import { Failure } from '../platform/errors.ts'
import type { RemoteRepository } from './remote-repository.ts'

export type ImageFacts = Awaited<ReturnType<typeof imageFacts>>

const size = z.int().min(0)
const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/)
const platform = z.object({
  os: z.string().max(50),
  architecture: z.string().max(50),
  variant: z.string().max(50).nullish(),
})
type Platform = z.output<typeof platform>

const index = z.object({ manifests: z.array(z.object({ digest, platform: platform.nullish() })) })
const manifest = z.object({
  config: z.object({ digest, size }),
  layers: z.array(z.object({ size })),
})

/**
 * Reads before a pull what would be pulled. Throws `image_platform` for an image that this machine can't run,
 * with the platforms that there are.
 */
export async function imageFacts(
  remote: RemoteRepository,
  { tag, image, machine }: { tag: string; image: string; machine: Pick<Machine, 'os' | 'arch'> },
) {
  const found = await remote.manifest(tag)
  const several = index.safeParse(found.json).data?.manifests
  if (!several) {
    const { config, bytes } = read(found.json)
    const own = platform.safeParse(await remote.blob(config)).data
    if (own && own.architecture !== '') choose([{ platform: own }])
    return { digest: found.digest, bytes }
  }
  const chosen = choose(several)
  const { json } = await remote.manifest(chosen.digest)
  return { digest: found.digest, bytes: read(json).bytes }

  function choose<Entry extends { platform?: Platform | null | undefined }>(entries: Entry[]) {
    const { os, arch } = machine
    for (const wanted of alsoRuns[arch] ?? [arch]) {
      const fitting = entries.find(
        ({ platform: has }) => has?.os === os && has.architecture === wanted,
      )
      if (fitting) return fitting
    }
    throw new Failure(
      'image_platform',
      `The image ${image} isn’t available for ${os}/${arch}, the platform of this server. It is for ${platformsOf(entries)}.`,
      'Choose a tag that supports it, or build the image for this platform too.',
    )
  }

  function read(json: unknown) {
    const { data } = manifest.safeParse(json)
    if (!data) throw remote.failure('registry_garbled')
    const { config, layers } = data
    return {
      config: config.digest,
      /** To download, if Docker has none of its layers. */
      bytes: layers.reduce((sum, layer) => sum + layer.size, config.size),
    }
  }
}

/** As Docker chooses. */
const alsoRuns: Record<string, string[]> = { amd64: ['amd64', '386'], arm64: ['arm64', 'arm'] }

/** Without those of attestations, which are of no platform. */
function platformsOf(entries: { platform?: Platform | null | undefined }[]) {
  const names = entries.flatMap(({ platform: has }) =>
    has && has.architecture !== 'unknown'
      ? [[has.os, has.architecture, has.variant].filter(Boolean).join('/')]
      : [],
  )
  return [...new Set(names)].slice(0, 20).join(', ') || 'no platform that it names'
}
