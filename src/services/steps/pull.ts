import { bringImage } from '../../runtime/images/bring.ts'
import type { ServiceRun } from '../run.ts'

/** What each image of the file is called on the engine. */
export type PulledImages = ReadonlyMap<string, string>

/** Brings the images that are not here; one that the engine has already, and may give, is used as it is. */
export async function pullImages(run: ServiceRun): Promise<PulledImages> {
  const { plans, progress, service, signal } = run
  const { ownerId } = service
  const wanted = new Map(plans.map(({ options }) => [options.image, options.platform]))
  const names = new Map<string, string>()
  for (const [image, platform] of wanted) {
    let pulls = false
    const brought = await bringImage(run, {
      ownerId,
      image,
      platform,
      signal,
      onPull() {
        pulls = true
        progress.begin(image)
      },
      onLayer: ({ layer, ...at }) => progress.layer(image, { id: layer, ...at }),
    })
    if (pulls) progress.end(image)
    names.set(image, brought.name)
  }
  return names
}
