import type {
  UsedContainer,
  UsedImage,
  Network,
  UsedVolume,
  CacheEntry,
} from '../../docker/index.ts'
import { readLabels } from '../../docker/labels.ts'
import { isAnotherDavits, isOurs } from './facts.ts'
import type { Facts } from './facts.ts'
import type { Verdict } from './kinds.ts'
import { ago } from '../../web/times.tsx'

/** Containers go that do not run and are nobody's: never the one of an app or of a service. */
export function judgeContainer(container: UsedContainer, facts: Facts): Verdict {
  const { labels, state } = container
  const verdict = isOurs(facts, labels)
    ? judgeOurs(container, facts)
    : { may: true, owner: 'other' as const, reason: 'it does not run' }
  if (isAnotherDavits(facts, labels))
    return { ...verdict, may: false, reason: 'it is another Davit’s: clean up there' }
  if (!verdict.may || endStates.includes(state)) return verdict
  return {
    ...verdict,
    may: false,
    reason: state === 'removing' ? 'it is being removed' : 'it runs',
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
    reason: 'started by hand from an image of Davit’s, and does not run',
  }

  const { kind, serviceId, deploymentId, environmentId } = readLabels(labels)
  switch (kind) {
    case 'app':
      return judgeApp()
    case 'service': {
      const service = needs.services.get(serviceId)
      return service ? stay(`it is part of the service ${service}`) : go('its service is gone')
    }
    case 'build': {
      // an image has this label too, and gives it to every container that a person starts from it
      const image = images.find(({ id }) => id === imageId)
      return image && isOurs(facts, image.labels) ? byHand : go('left behind by a build')
    }
    case 'edge':
      return stay('it serves Davit itself')
    default:
      return { ...byHand, reason: 'it has labels of Davit’s that Davit does not know' }
  }

  function judgeApp() {
    const environment = needs.environments.get(environmentId)
    if (needs.inWork.has(deploymentId)) return stay('its deployment is at work')
    if (environment?.containerIds.has(id)) return stay(`it is what ${environment.name} runs in`)
    if (environment?.busy) return stay(`a deployment to ${environment.name} is at work`)
    const known = deployed.get(deploymentId)
    if (known && known.size > 0 && !known.has(id)) return byHand
    if (!environment) return go('its environment is gone')
    if (known === undefined) return { ...byHand, reason: 'Davit does not know its deployment' }
    return go(`${environment.name} runs in another container by now`)
  }
}

/** Images go that no container was made from, that no rollback needs and that no deployment works with. */
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

/** One that somebody named anew, or built from ours, has our labels but is theirs. */
const isDavits = ({ labels, tags }: UsedImage, facts: Facts) =>
  isOurs(facts, labels) && tags.every((tag) => tag.startsWith('davit/'))

function needOfImage({ id, tags, labels }: UsedImage, facts: Facts) {
  const { containers, needs } = facts
  const user = containers.find(({ imageId }) => imageId === id)
  if (user) return `the container ${user.name} uses it`
  for (const tag of tags) if (needs.images.has(tag)) return needs.images.get(tag)!
  if (needs.inWork.has(readLabels(labels).deploymentId)) return 'its deployment is at work'
  if (isAnotherDavits(facts, labels)) return 'it is another Davit’s: clean up there'
  return null
}

function whyDavits({ labels, tags }: UsedImage, { needs }: Facts) {
  if (tags.length === 0) return 'untagged: a newer image has its name'
  const environment = needs.environments.get(readLabels(labels).environmentId)
  return environment
    ? `older than those that ${environment.name} keeps for rollback`
    : 'its environment is gone'
}

const whyOthers = ({ tags }: UsedImage) =>
  tags.length === 0 ? 'untagged, and no container uses it' : 'no container uses it'

const engines = ['bridge', 'host', 'none', 'ingress', 'docker_gwbridge']

/** Networks go that no container is joined to, stopped ones counted, and whose project or service is gone. */
export function judgeNetwork({ id, name, driver, labels }: Network, facts: Facts): Verdict {
  const owner = isOurs(facts, labels) ? 'davit' : 'other'
  const stay = (reason: string): Verdict => ({ may: false, owner, reason })
  if (engines.includes(name)) return stay('it is the engine’s own')
  if (driver === 'overlay') return stay('containers on other machines may be joined to it')
  const user = facts.containers.find(({ networks }) =>
    networks.some((joined) => joined === name || joined === id),
  )
  if (user) return stay(`the container ${user.name} is joined to it`)
  if (isAnotherDavits(facts, labels)) return stay('it is another Davit’s: clean up there')
  if (owner === 'other') return { may: true, owner, reason: 'no container is joined to it' }

  const { projectId, serviceId } = readLabels(labels)
  const { projects, services } = facts.needs
  const project = projects.get(projectId)
  if (project) return stay(`it is the network of ${project}`)
  const service = services.get(serviceId)
  if (service) return stay(`it is the network of the service ${service}`)
  return { may: true, owner, reason: 'its project or service is gone' }
}

/**
 * Volumes hold data. One that a container mounts stays, even if that does not run, and all of an
 * environment or service stay as long as it exists, whether its settings still name them or not.
 */
export function judgeVolume({ name, labels }: UsedVolume, facts: Facts): Verdict {
  const owner = isOurs(facts, labels) ? 'davit' : 'other'
  const stay = (reason: string): Verdict => ({ may: false, owner, reason })
  const user = facts.containers.find(({ volumes }) => volumes.includes(name))
  if (user) return stay(`the container ${user.name} uses it`)
  if (isAnotherDavits(facts, labels)) return stay('it is another Davit’s: clean up there')
  if (owner === 'other') return { may: true, owner, reason: 'no container uses it' }

  const { environmentId, serviceId } = readLabels(labels)
  const { environments, services } = facts.needs
  const environment = environments.get(environmentId)
  if (environment) return stay(`it is data of ${environment.name}`)
  const service = services.get(serviceId)
  if (service) return stay(`it is data of the service ${service}`)
  return { may: true, owner, reason: 'what it was the data of is gone' }
}

/** Milliseconds without use after which the clean-up that runs by itself takes an entry. */
const idleAfter = 24 * 3_600_000

export const isIdle = ({ lastUsedAt }: CacheEntry, now: Date) =>
  lastUsedAt === null || now.getTime() - lastUsedAt.getTime() > idleAfter

/**
 * Entries go that no build uses, and that are neither part of an image nor what another was made from
 * that stays. In the order in which they can go: what was made from others before them.
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
  if (shared) return 'it is part of an image, and can go after that'
  return needed.has(id) ? 'what was made from it stays' : null
}

const lastUse = ({ lastUsedAt }: CacheEntry, now: Date) =>
  lastUsedAt ? `last used ${ago(lastUsedAt, now)}` : 'never used since it was made'

function childrenFirst(entries: CacheEntry[]): CacheEntry[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const depths = new Map<string, number>()
  for (const entry of entries) depthOf(entry)
  return entries.toSorted((a, b) => depths.get(b.id)! - depths.get(a.id)!)

  function depthOf({ id, parents }: CacheEntry): number {
    const known = depths.get(id)
    if (known !== undefined) return known
    depths.set(id, 0) // a circle, which there should not be, ends here
    const above = parents.flatMap((parent) => byId.get(parent) ?? []).map(depthOf)
    const depth = 1 + Math.max(-1, ...above)
    depths.set(id, depth)
    return depth
  }
}
