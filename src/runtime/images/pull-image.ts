import { findUser } from '../../accounts/store.ts'
import type { Config } from '../../config.ts'
import type { Db } from '../../db/index.ts'
import { isOverloaded } from '../../docker/index.ts'
import type { Docker, Image, LayerProgress, RegistryAuth } from '../../docker/index.ts'
import { Failure } from '../../platform/errors.ts'
import { neverAborted } from '../../platform/pause.ts'
import { refusePrivate } from '../../registries/admit.ts'
import { authFor } from '../../registries/auth.ts'
import {
  isOfficial,
  parseReference,
  repositoryOf,
  writtenOut,
} from '../../registries/image-registry.ts'
import type { ImageReference } from '../../registries/image-registry.ts'
import type { RuntimeDeps } from '../deps.ts'
import { checkRoom } from '../check-room.ts'
import { imageLock } from './lock.ts'
import {
  forgetPublicName,
  getGivenImage,
  isOwnerOf,
  isKnownPublic,
  listNamedInPublic,
  recordGivenImage,
  recordPublic,
} from './store.ts'
import type { GivenImage } from './store.ts'
import { areDavits, labelFilter, readLabels } from '../../docker/labels.ts'
import { privateName, privateRegistry } from './private-names.ts'

type ImageDeps = Pick<RuntimeDeps, 'db' | 'docker' | 'instanceId' | 'secrets'> & { config: Config }

type PullRequest = {
  ownerId: string
  /** As the user wrote it. */
  image: string
  /** Such as `linux/arm64`; by default the engine's own. */
  platform?: string | undefined
  /** True to pull an image again that needs a login, if its registry has a newer one. */
  isFresh?: boolean
  /** With `isFresh`, throws when the registry can't say which one is the newest. */
  isStrict?: boolean
  /** The one in its registry, if its owner was just told. */
  digest?: string | undefined
  /** True to give it a private name for its owner even if it is public. */
  isApart?: boolean
  signal: AbortSignal
  /** Called before the pull, which may have to wait. */
  onPull?: () => void
  onLayer?: (layer: LayerProgress) => void
}

/** `name` is the image's name on the engine, often a private one. */
export type PulledImage = {
  name: string
  image: Image
  /** False when the engine already had it. */
  pulled: boolean
  /** In its registry, for one that only its owner has. */
  digest?: string
}

type Task = Omit<PullRequest, 'platform'> & {
  reference: ImageReference
  name: string
  platform: string
}

/**
 * Pulls an image unless the engine has it and the user may use it. One that was pulled with a login belongs
 * to its owner; everything else must be public. Throws what a pull would throw when the image exists, but
 * isn't available to the user.
 */
export const pullImage = (deps: ImageDeps, asked: PullRequest): Promise<PulledImage> =>
  pullOrReuse(deps, asked).catch((error) => {
    throw isOverloaded(error) ? named(error, asked.image) : error
  })

/** Names the image as its owner knows it: the engine may use another name. */
const named = ({ code, message, hint }: Failure, image: string) =>
  new Failure(code, message.replace('The image', `The image ${image}`), hint)

async function pullOrReuse(deps: ImageDeps, asked: PullRequest): Promise<PulledImage> {
  const { db, docker } = deps
  const { ownerId, image, platform = '', signal } = asked
  const reference = parseReference(image)
  if (!reference || reference.registry === privateRegistry) throw notAnImage(image)
  const name = writtenOut(reference)
  const task = { ...asked, reference, name, platform }

  const { serverId } = docker
  const given = getGivenImage(db, { ownerId, reference: name, platform, serverId })
  const kept = given && (await docker.inspectImage(given.name, { signal }))
  const auth = authFor(deps, { ownerId, image: name })
  if (kept && !(asked.isFresh && (await hasMoved(deps, { ...task, given, auth }))))
    return { name: given.name, image: kept, pulled: false, digest: given.digest }

  const here = await docker.inspectImage(name, { signal })
  if (asked.isApart || (auth && !isOfficial(name)))
    return pullApart(deps, { ...task, auth }).catch(async (error) => {
      if (here && (await isOfOwnContainers(deps, here, task)))
        return { name, image: here, pulled: false }
      throw error
    })
  if (here) {
    await refuseUnlessGiven(deps, here, task)
    return { name, image: here, pulled: false }
  }
  task.onPull?.()
  await pull(deps, { ...task, source: name, auth })
  const found = await inspectPulled(deps, name, { signal })
  for (const digest of found.digests.flatMap((text) => parseReference(text) ?? []))
    recordPublic(db, writtenOut(digest))
  return { name, image: found, pulled: true }
}

/** Removes an unusable image, which would appear in every list of images. */
async function inspectPulled(
  { docker }: ImageDeps,
  name: string,
  { signal }: Pick<PullRequest, 'signal'>,
): Promise<Image> {
  try {
    return (await docker.inspectImage(name, { signal }))!
  } catch (error) {
    // fails when another user's image uses it
    if (isOverloaded(error)) await docker.removeImage(name).catch(() => {})
    throw error
  }
}

/** False when the registry or the login fails, unless strict: neither is a reason to lose the pulled image. */
const hasMoved = async (
  { docker }: ImageDeps,
  task: Task & { given: GivenImage; auth: RegistryAuth | undefined },
) => {
  const { given, name, image, auth, signal, isStrict, digest } = task
  if (digest) return digest !== given.digest
  return docker.imageDigest(name, { auth, signal, as: image }).then(
    (digest) => digest !== given.digest,
    (error) => {
      signal.throwIfAborted()
      if (isStrict) throw error
      return false
    },
  )
}

async function pull(
  deps: ImageDeps,
  { source, auth, ...task }: Task & { source: string; auth: RegistryAuth | undefined },
) {
  const { image, platform, signal, reference, ownerId } = task
  await refusePrivate(deps, { registry: reference.registry, signal })
  const { folder } = await deps.docker.machine({ signal })
  if (!deps.docker.remote) await checkRoom(folder, { whose: 'Docker', what: 'another image' })
  const isAwaited = () => imageLock.isAwaited(ownerId)
  const options = { as: image, auth, signal, ownerId, isAwaited, ...(platform && { platform }) }
  for await (const layer of deps.docker.pullImage(source, options)) task.onLayer?.(layer)
}

/**
 * Pulls by digest, so that no tag ever names the image on the engine. The name with the digest is removed as
 * soon as the image has one that only its owner knows. Images that the operator pulled by hand keep their
 * names.
 */
async function pullApart(
  deps: ImageDeps,
  task: Task & { auth: RegistryAuth | undefined },
): Promise<PulledImage> {
  const { db, docker } = deps
  const { ownerId, image: wanted, reference, name, platform, auth, signal } = task
  await refusePrivate(deps, { registry: reference.registry, signal })
  const digest = task.digest ?? (await docker.imageDigest(name, { auth, signal, as: wanted }))
  const source = `${repositoryOf(reference)}@${digest}`
  task.onPull?.() // before the wait for other users' builds
  const named = async () => {
    const isHere = await docker.hasImage(source, { signal })
    const given = recordGivenImage(db, {
      ownerId,
      reference: name,
      platform,
      serverId: docker.serverId,
      digest,
      name: privateName(reference),
      publicName: isHere ? null : source,
    })
    if (!isHere || platform) await pull(deps, { ...task, source })
    const image = await docker.inspectImage(source, { signal })
    if (!image) throw new Error(`The image ${source} was removed while it was pulled.`)
    await docker.tagImage(image.id, given.name)
    return { name: given.name, image, pulled: true, digest }
  }
  const work = async () => {
    await losePublicNames(deps)
    return imageLock.names.run(source, signal, named).finally(() => losePublicNames(deps))
  }
  // builds of others may see what needs no login, so it need not wait for their end
  return auth ? imageLock.alone(ownerId, signal, work) : imageLock.share(ownerId, signal, work)
}

/** Removes the names by which other users' builds could find images that were pulled with a login. */
export async function losePublicNames({ db, docker }: { db: Db; docker: Docker }) {
  for (const { id, publicName, name, createdAt } of listNamedInPublic(db, docker)) {
    if (imageLock.names.isLocked(publicName!)) continue // its pull does it
    await imageLock.names.run(publicName!, neverAborted(), async () => {
      await docker.removeImage(publicName!)
      const isOver = createdAt.getTime() < Date.now() - lateEnd
      if (isOver || (await docker.hasImage(name))) forgetPublicName(db, id)
    })
  }
}

/** Milliseconds after which the engine has certainly noticed that a pull was aborted. */
const lateEnd = 10 * 60_000

/** Never runs while an image is pulled with another user's login. */
export const buildApart = (
  deps: { db: Db; docker: Docker },
  { ownerId, signal }: { ownerId: string; signal: AbortSignal },
  build: () => Promise<void>,
) =>
  imageLock.share(ownerId, signal, async () => {
    await losePublicNames(deps)
    return build()
  })

/** Checks access: a local image may have been pulled with someone else's login, including the operator's. */
async function refuseUnlessGiven(deps: ImageDeps, here: Image, task: Task) {
  const { ownerId, image, reference } = task
  const of = readLabels(here.labels)
  if (reference.path.startsWith('davit/') && areDavits(here.labels)) {
    if (of.instanceId === deps.instanceId && isOwnerOf(deps.db, ownerId, of)) return
    throw notFound(image)
  }
  const projectId = /^davit\/([\da-f-]{36})$/.exec(reference.path)?.[1] // pulled, so without labels
  if (projectId) {
    if (isOwnerOf(deps.db, ownerId, { projectId, serviceId: '' })) return
    throw notFound(image)
  }
  const known = here.digests.flatMap((text) => parseReference(text) ?? [])
  const digests = known.map(writtenOut)
  // images built or loaded on the server are shared by the operator, and needed no login
  if (digests.length === 0 || digests.some(isOfficial) || isKnownPublic(deps.db, digests)) return
  if (findUser(deps.db, ownerId).role === 'admin') return
  if (await isOfOwnContainers(deps, here, task)) return
  await askForEveryone(deps, known, task)
}

/** Throws the last refusal unless one of the image's registries serves it without a login. */
async function askForEveryone(deps: ImageDeps, known: ImageReference[], { image, signal }: Task) {
  let refusal: unknown
  for (const reference of known)
    try {
      await refusePrivate(deps, { registry: reference.registry, signal })
      const digest = writtenOut(reference)
      await deps.docker.imageDigest(digest, { signal, as: image })
      return recordPublic(deps.db, digest)
    } catch (error) {
      signal.throwIfAborted()
      refusal = error
    }
  throw refusal
}

/** A user's running containers prove access to their images, pulled before Davit recorded access. */
async function isOfOwnContainers(
  { db, docker, instanceId }: ImageDeps,
  { id }: Image,
  { ownerId, signal }: Task,
) {
  const labels = labelFilter(instanceId)
  const all = await docker.listContainers({ labels, all: true, signal })
  return all.some(
    ({ imageId, labels }) => imageId === id && isOwnerOf(db, ownerId, readLabels(labels)),
  )
}

const notAnImage = (image: string) =>
  new Failure(
    'image_name_invalid',
    `“${image}” isn’t a valid image name.`,
    'Write it as name:tag, or registry/name:tag.',
  )

const notFound = (image: string) =>
  new Failure(
    'image_not_found',
    `The registry has no image ${image}.`,
    'Check its name and its tag.',
  )
