import { pullImage } from '../../runtime/images/pull-image.ts'
import type { Run } from '../context.ts'
import { imageNameOf } from '../images.ts'

/** Pulls the image that the deployment names, and keeps it under a name of its own, as a built one. */
export async function pull(run: Run, reference: string) {
  const { project, deployment, docker, log, signal } = run
  const { image, digest } = await pullImage(run, {
    ownerId: project.ownerId,
    image: reference,
    isFresh: true,
    isStrict: true,
    isApart: true,
    signal,
    onPull: () => log(`Pulling ${reference}`),
  })
  log(digest ? `${reference} is ${digest}` : `Docker has ${reference}`)
  const name = imageNameOf(run, deployment)
  await docker.tagImage(image.id, name)
  return { image: name, pullDigest: digest ?? null }
}
