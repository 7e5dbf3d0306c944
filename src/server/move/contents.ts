import { labelFilter, readLabels } from '../../docker/labels.ts'
import type { Docker } from '../../docker/index.ts'
import { Failure } from '../../platform/errors.ts'
import { shownImage } from '../../runtime/images/private-names.ts'
import { listWorkloads } from '../store.ts'
import type { Workload } from '../store.ts'
import type { Db } from '../../db/index.ts'

export type MovedVolume = {
  name: string
  labels: Record<string, string>
  size: number
  /** Ids of the containers that mount it. */
  users: string[]
}

/** An app or a service with its volumes. */
export type Group = Workload & { volumes: MovedVolume[] }

export type Contents = Awaited<ReturnType<typeof contentsOf>>

type Deps = { db: Db; docker: Docker; instanceId: string }

/** Collects what the database of this installation doesn't hold. Slow: Docker scans all volumes. */
export async function contentsOf({ db, docker, instanceId }: Deps) {
  const [use, listed] = await Promise.all([
    docker.diskUse(),
    docker.listContainers({ labels: labelFilter(instanceId), all: true }),
  ])
  const containers = listed.map(({ id, labels }) => ({ id, kind: readLabels(labels).kind }))
  const workloads = listWorkloads(db)
  const known = new Set(workloads.map(({ id }) => id))
  const usersOf = (name: string) =>
    use.containers.flatMap(({ id, volumes }) => (volumes.includes(name) ? id : []))
  const volumes = use.volumes.flatMap(({ name, labels, size }) => {
    const of = ownerIn(labels)
    const isOurs = readLabels(labels).instanceId === instanceId && known.has(of)
    return isOurs ? [{ of, name, labels, size: size ?? 0, users: usersOf(name) }] : []
  })
  const moved = new Set(volumes.map(({ name }) => name))
  const kinds = ['app', 'service']
  const ofWorkloads = new Set(
    containers.flatMap(({ id, kind }) => (kinds.includes(kind) ? id : [])),
  )
  const isOwn = (labels: Record<string, string>) =>
    readLabels(labels).instanceId === instanceId && kinds.includes(readLabels(labels).kind)
  const groups = workloads.map((workload) => ({
    ...workload,
    volumes: volumes.flatMap(({ of, ...volume }) => (of === workload.id ? volume : [])),
  }))
  const sizes = new Map(use.images.map(({ id, size }) => [id, size]))
  const images = await imagesOf({ docker }, listed)
  const shownAs = (image: string, labels: Record<string, string>) =>
    image.startsWith('davit/')
      ? (workloads.find(({ id }) => id === ownerIn(labels))?.name ?? image)
      : shownImage(image)
  return {
    groups,
    /** Images of all containers, Caddy's included, each with a readable name. */
    images: images.map(({ id, tag, name, labels }) => {
      const size = sizes.get(id) ?? 0
      return { id, tag, size, shown: shownAs(name, labels) }
    }),
    /** All containers of this installation. */
    containers,
    /** Folders of this server that services mount, as an admin has allowed. */
    binds: await bindsOf({ docker }, listed),
    /** Not moved: volumes not created by Davit, and those left by something deleted (`of` is null). */
    others: [
      ...use.containers.flatMap(({ id, name: of, volumes: mounted }) =>
        ofWorkloads.has(id) ? mounted.flatMap((name) => (moved.has(name) ? [] : { of, name })) : [],
      ),
      ...use.volumes.flatMap(({ name, labels }) =>
        isOwn(labels) && !moved.has(name) && usersOf(name).length === 0 ? { of: null, name } : [],
      ),
    ],
  }
}

function ownerIn(labels: Record<string, string>) {
  const { environmentId, serviceId } = readLabels(labels)
  return environmentId || serviceId
}

type Listed = Awaited<ReturnType<Docker['listContainers']>>

/**
 * The list shows an image by its id once a newer one has its tag, but a container still knows its name. The `tag` is
 * that on the new server; null without one, or when a newer image has it.
 */
async function imagesOf({ docker }: Pick<Deps, 'docker'>, listed: Listed) {
  const all = await Promise.all(
    listed.map(async ({ id: container, image, imageId: id, labels }) => {
      const isTagged = !/^(sha256:)?[0-9a-f]{12,64}$/.test(image)
      const name = isTagged ? image : ((await docker.inspectContainer(container))?.image ?? id)
      return { id, name, isTagged, labels, tag: tagIn(name) }
    }),
  )
  const tagged = new Set(all.flatMap(({ isTagged, tag }) => (isTagged ? tag : [])))
  const images = new Map(all.map((image) => [`${image.id} ${image.name}`, image]))
  return [...images.values()].map((image) =>
    !image.isTagged && tagged.has(image.tag) ? { ...image, tag: null } : image,
  )
}

/** Adds the default tag; null for an id or a digest. */
export function tagIn(name: string) {
  if (name.includes('@') || /^(sha256:)?[0-9a-f]{64}$/.test(name)) return null
  return /:[^/]+$/.test(name) ? name : `${name}:latest`
}

async function bindsOf(
  { docker }: Pick<Deps, 'docker'>,
  listed: { id: string; name: string; labels: Record<string, string> }[],
) {
  const ofServices = listed.filter(({ labels }) => readLabels(labels).kind === 'service')
  const found = await Promise.all(ofServices.map(({ id }) => docker.inspectContainer(id)))
  return found.flatMap((one) =>
    (one?.mounts ?? []).flatMap(({ type, source }) =>
      type === 'bind' && source ? [{ of: one!.name, folder: source }] : [],
    ),
  )
}

export type Choice = {
  /** `all`, `none`, or names of volumes, apps or services. */
  volumes: string
  without: string[]
}

/** Returns the groups with the chosen volumes. Throws for an unknown name. */
export function chooseVolumes(groups: Group[], { volumes, without }: Choice): Group[] {
  const asked = volumes === 'all' || volumes === 'none' ? [] : volumes.split(',')
  const isCalled = (group: Group, volume: MovedVolume, name: string) =>
    [volume.name, group.name, group.name.split('/')[0]].includes(name)
  const all = groups.flatMap((group) => group.volumes.map((volume) => ({ group, volume })))
  for (const name of [...asked, ...without])
    if (!all.some(({ group, volume }) => isCalled(group, volume, name)))
      throw new Failure(
        'move_volumes',
        `There is no volume of “${name}” here.`,
        all.length === 0
          ? 'No app or service has one.'
          : `Name an app, a service or one of the volumes: ${all.map(({ volume }) => volume.name).join(', ')}.`,
      )
  const isChosen = (group: Group, volume: MovedVolume) =>
    (volumes === 'all' || asked.some((name) => isCalled(group, volume, name))) &&
    !without.some((name) => isCalled(group, volume, name))
  return groups.map((group) => ({
    ...group,
    volumes: group.volumes.filter((volume) => isChosen(group, volume)),
  }))
}

export const sizeOf = (groups: Pick<Group, 'volumes'>[]) =>
  groups.flatMap(({ volumes }) => volumes).reduce((sum, { size }) => sum + size, 0)
