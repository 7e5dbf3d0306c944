import { Failure } from '../../platform/errors.ts'
import { authFor } from '../../registries/auth.ts'
import { imageFacts } from '../../registries/image-facts.ts'
import type { ImageFacts } from '../../registries/image-facts.ts'
import { RemoteRepository } from '../../registries/remote-repository.ts'
import { parseImage, withTag } from '../../registries/tag-pattern.ts'
import { checkRoom } from '../../runtime/check-room.ts'
import { pullImage } from '../../runtime/images/pull-image.ts'
import { bytes } from '../../web/units.ts'
import type { Run } from '../context.ts'
import { imageNameOf } from '../images.ts'
import { updateDeployment } from '../store.ts'

/** Pulls the image that the deployment names, and keeps it under a name of its own, as a built one. */
export async function pull(run: Run, asked: string) {
  const { db, project, deployment, docker, log, signal } = run
  const { ownerId } = project
  const { reference, pattern } = parseImage(asked)!
  const auth = authFor(run, { ownerId, image: asked })
  const remote = new RemoteRepository(run, { reference, auth, ownerId, signal })
  const tag = pattern === null ? reference.tag : await newestOf(remote, { pattern, asked })
  const name = pattern === null ? asked : withTag(asked, tag!)
  if (pattern !== null) log(`The newest version of ${asked} is ${tag}`)
  const wanted = deployment.pullDigest ?? reference.digest ?? tag!
  const facts = await check(run, { remote, tag: wanted, image: name })
  // a check for new images meanwhile compares with it
  if (facts) updateDeployment(db, deployment.id, { pullReference: name, pullDigest: facts.digest })
  const { image, digest } = await pullImage(run, {
    ownerId,
    image: name,
    digest: facts?.digest ?? deployment.pullDigest ?? undefined,
    isFresh: true,
    isStrict: true,
    isApart: true,
    signal,
    onPull: () => log(`Pulling ${name}${facts ? ` (${bytes(facts.bytes)} at most)` : ''}`),
  })
  log(digest ? `${name} is ${digest}` : `Docker has ${name}`)
  const kept = imageNameOf(run, deployment)
  await docker.tagImage(image.id, kept)
  return { image: kept, pullReference: name, pullDigest: digest ?? null }
}

async function newestOf(
  remote: RemoteRepository,
  { pattern, asked }: { pattern: string; asked: string },
) {
  const found = await remote.newest(pattern)
  if (found !== 'unchanged' && found.tag !== null) return found.tag
  throw noMatchingTag(asked)
}

export const noMatchingTag = (image: string) =>
  new Failure(
    'no_matching_tag',
    `No tag in the registry matches ${image}.`,
    'Change the pattern under Settings, or push a tag such as 1.2.3 that it matches.',
  )

/** Null when only Docker can reach the registry, or neither of them: Docker says why. */
async function check(
  run: Run,
  asked: { remote: RemoteRepository; tag: string; image: string },
): Promise<ImageFacts | null> {
  const { docker, config, log, signal } = run
  const machine = await docker.machine({ signal })
  const facts = await imageFacts(asked.remote, { ...asked, machine }).catch((error) => {
    if (!(error instanceof Failure) || error.code === 'image_platform') throw error
    log(`The size of the image isn’t known: ${error.message}`)
    return null
  })
  if (!facts) return null
  if (facts.bytes > config.imageSize) throw tooLarge(asked.image, facts, config)
  const more = 2 * facts.bytes // packed and unpacked
  if (!docker.remote)
    await checkRoom(machine.folder, { whose: 'Docker', what: 'another image', more })
  return facts
}

const tooLarge = (image: string, facts: ImageFacts, { imageSize }: Run['config']) =>
  new Failure(
    'image_too_large',
    `The image ${image} has ${bytes(facts.bytes)} to download, and ${bytes(imageSize)} are allowed.`,
    'Make it smaller, for example with a build in several stages. The operator can allow more with DAVIT_IMAGE_SIZE.',
  )
