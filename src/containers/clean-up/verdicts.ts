import type {
  UsedContainer,
  UsedImage,
  Network,
  UsedVolume,
  CacheEntry,
} from '../../docker/index.ts'
import { readLabels } from '../../docker/labels.ts'
import { image as edgeImage } from '../../edge/container.ts'
import { isAnotherDavits, isOurs } from './store.ts'
import type { Facts } from './store.ts'
import type { Verdict } from './kinds.ts'
import { ago } from '../../web/times.tsx'
import { deployedImage } from '../../runtime/images/stack-store.ts'

/** Only stopped containers may be removed, and never one of an existing app or service. */
export function judgeContainer(container: UsedContainer, facts: Facts): Verdict {
  const { labels, state } = container
  const verdict = isOurs(facts, labels)
    ? judgeOurs(container, facts)
    : { may: true, owner: 'other' as const, reason: 'it isn’t running' }
  if (isAnotherDavits(facts, labels))
    return { ...verdict, may: false, reason: 'it belongs to another Davit: clean up there' }
  if (!verdict.may || endStates.includes(state)) return verdict
  return {
    ...verdict,
    may: false,
    reason: state === 'removing' ? 'it is being removed' : 'it is running',
  }
}

const endStates: UsedContainer['state'][] = ['created', 'exited', 'dead']

function judgeOurs({ id, imageId, labels }: UsedContainer, facts: Facts): Verdict {
  const { needs, deployed, images } = facts
  const go = (reason: string): Verdict => ({ may: true, owner: 'davit', reason })
  const stay = (reason: string): Verdict => ({ may: false, owner: 'davit', reason })
  const byHand: Verdict = {
    may: true,
    owner: 'other',
    reason: 'started by hand from one of Davit’s images, and isn’t running',
  }

  const { kind, serviceId, deploymentId, environmentId } = readLabels(labels)
  switch (kind) {
    case 'app':
      return judgeApp()
    case 'service': {
      const service = needs.services.get(serviceId)
      return service ? stay(`it is part of the service ${service}`) : go('its service was deleted')
    }
    case 'build': {
      // the label alone proves nothing: a container inherits it when started by hand from one of our images
      const image = images.find(({ id }) => id === imageId)
      return image && isOurs(facts, image.labels) ? byHand : go('left over from a build')
    }
    case 'edge':
      return stay('it serves Davit itself')
    case 'backup':
      return go('left over from a backup')
    default:
      return { ...byHand, reason: 'it has Davit labels that are unknown' }
  }

  function judgeApp() {
    const environment = needs.environments.get(environmentId)
    if (needs.inWork.has(deploymentId)) return stay('its deployment is running')
    if (environment?.containerIds.has(id)) return stay(`${environment.name} is running in it`)
    if (environment?.busy) return stay(`a deployment to ${environment.name} is running`)
    if (environment?.keptIds.has(id)) return go(`${environment.name} keeps it for a rollback`)
    const known = deployed.get(deploymentId)
    if (known && known.size > 0 && !known.has(id)) return byHand
    if (!environment) return go('its environment was deleted')
    if (known === undefined) return { ...byHand, reason: 'its deployment is unknown' }
    return go(`${environment.name} now runs in another container`)
  }
}

/** An image may be removed when no container, rollback or deployment uses it. */
export function judgeImage(image: UsedImage, facts: Facts): Verdict {
  const owner = isDavits(image, facts) ? 'davit' : 'other'
  const need = needOfImage(image, facts)
  if (need) return { may: false, owner, reason: need }
  return {
    may: true,
    owner,
    reason: owner === 'davit' ? whyDavits(image, facts) : whyOthers(image),
  }
}

/** An image that someone retagged, or built from ours, carries our labels but belongs to them. */
const isDavits = ({ labels, tags }: UsedImage, facts: Facts) =>
  isOurs(facts, labels) && tags.every((tag) => tag.startsWith('davit/'))

function needOfImage({ id, tags, labels }: UsedImage, facts: Facts) {
  const { containers, needs } = facts
  const user = containers.find(({ imageId }) => imageId === id)
  if (tags.includes(edgeImage)) return 'Davit uses it to serve domains'
  if (user) return `the container ${user.name} uses it`
  for (const tag of tags.map(deployedImage))
    if (needs.images.has(tag)) return needs.images.get(tag)!
  if (needs.inWork.has(readLabels(labels).deploymentId)) return 'its deployment is running'
  if (isAnotherDavits(facts, labels)) return 'it belongs to another Davit: clean up there'
  return null
}

function whyDavits({ labels, tags }: UsedImage, { needs }: Facts) {
  if (tags.length === 0) return 'untagged: a newer image has its name'
  const environment = needs.environments.get(readLabels(labels).environmentId)
  return environment
    ? `older than those that ${environment.name} keeps for rollback`
    : 'its environment was deleted'
}

const whyOthers = ({ tags }: UsedImage) =>
  tags.length === 0 ? 'untagged, and no container uses it' : 'no container uses it'

const engines = ['bridge', 'host', 'none', 'ingress', 'docker_gwbridge']

/** Removable without connected containers, even stopped ones, once its project or service was deleted. */
export function judgeNetwork({ id, name, driver, labels }: Network, facts: Facts): Verdict {
  const owner = isOurs(facts, labels) ? 'davit' : 'other'
  const stay = (reason: string): Verdict => ({ may: false, owner, reason })
  if (engines.includes(name)) return stay('it is Docker’s own')
  if (driver === 'overlay') return stay('containers on other machines may be connected to it')
  const user = facts.containers.find(({ networks }) =>
    networks.some((joined) => joined === name || joined === id),
  )
  if (user) return stay(`the container ${user.name} is connected to it`)
  if (isAnotherDavits(facts, labels)) return stay('it belongs to another Davit: clean up there')
  if (owner === 'other') return { may: true, owner, reason: 'no container is connected to it' }

  const { kind, projectId, environmentId, serviceId } = readLabels(labels)
  if (kind === 'backup') return { may: true, owner, reason: 'the next backup creates it again' }
  const { projects, environments, services } = facts.needs
  const environment = environments.get(environmentId)
  if (environment) return stay(`it is the network of ${environment.name}`)
  const project = projects.get(projectId)
  if (project) return stay(`it is the network of ${project}`)
  const service = services.get(serviceId)
  if (service) return stay(`it is the network of the service ${service}`)
  return { may: true, owner, reason: 'its project or service was deleted' }
}

/**
 * Volumes hold data. One that any container mounts is kept, and so are all volumes of an
 * environment or service while it exists, even if its settings no longer use them.
 */
export function judgeVolume({ name, labels }: UsedVolume, facts: Facts): Verdict {
  const owner = isOurs(facts, labels) ? 'davit' : 'other'
  const stay = (reason: string): Verdict => ({ may: false, owner, reason })
  const user = facts.containers.find(({ volumes }) => volumes.includes(name))
  if (user) return stay(`the container ${user.name} uses it`)
  if (isAnotherDavits(facts, labels)) return stay('it belongs to another Davit: clean up there')
  if (owner === 'other') return { may: true, owner, reason: 'no container uses it' }

  const { kind, environmentId, serviceId } = readLabels(labels)
  if (kind === 'edge') return stay('it contains the certificates of domains')
  if (kind === 'backup') return { may: true, owner, reason: 'a cache, which backups fill again' }
  const { environments, services } = facts.needs
  const environment = environments.get(environmentId)
  if (environment) return stay(`it is data of ${environment.name}`)
  const service = services.get(serviceId)
  if (service) return stay(`it is data of the service ${service}`)
  return { may: true, owner, reason: 'its owner was deleted' }
}

/** Milliseconds without use after which the scheduled clean-up removes an entry. */
const idleAfter = 24 * 3_600_000

export const isIdle = ({ lastUsedAt }: CacheEntry, now: Date) =>
  lastUsedAt === null || now.getTime() - lastUsedAt.getTime() > idleAfter

/**
 * An entry may be removed when no build uses it, and it is neither part of an image nor the
 * parent of a kept entry. Sorted in order of removal: children first.
 */
export function judgeBuildCache(entries: CacheEntry[], now = new Date()) {
  const needed = new Set<string>()
  return childrenFirst(entries).map((entry): { entry: CacheEntry; verdict: Verdict } => {
    const owner = 'builder'
    const need = needOfCache(entry, needed)
    if (!need) return { entry, verdict: { may: true, owner, reason: lastUse(entry, now) } }
    for (const parent of entry.parents) needed.add(parent)
    return { entry, verdict: { may: false, owner, reason: need } }
  })
}

function needOfCache({ id, inUse, shared }: CacheEntry, needed: Set<string>) {
  if (inUse) return 'a build uses it'
  if (shared) return 'it is part of an image, and can be removed after that'
  return needed.has(id) ? 'entries built from it are kept' : null
}

const lastUse = ({ lastUsedAt }: CacheEntry, now: Date) =>
  lastUsedAt ? `last used ${ago(lastUsedAt, now)}` : 'never used since it was created'

function childrenFirst(entries: CacheEntry[]): CacheEntry[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const depths = new Map<string, number>()
  for (const entry of entries) depthOf(entry)
  return entries.toSorted((a, b) => depths.get(b.id)! - depths.get(a.id)!)

  function depthOf({ id, parents }: CacheEntry): number {
    const known = depths.get(id)
    if (known !== undefined) return known
    depths.set(id, 0) // ends a cycle, which shouldn't exist
    const above = parents.flatMap((parent) => byId.get(parent) ?? []).map(depthOf)
    const depth = 1 + Math.max(-1, ...above)
    depths.set(id, depth)
    return depth
  }
}
