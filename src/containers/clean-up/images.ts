import type { UsedImage } from '../../docker/index.ts'
import { readLabels } from '../../docker/labels.ts'
import { isAnotherDavits, isOurs } from './facts.ts'
import type { Facts } from './facts.ts'
import type { Verdict } from './kinds.ts'

/** Images go that no container was made from, that no rollback needs and that no deployment works with. */
export function judgeImage(image: UsedImage, facts: Facts): Verdict {
  const owner = isDavits(image, facts) ? 'davit' : 'other'
  const need = needOf(image, facts)
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

function needOf({ id, tags, labels }: UsedImage, facts: Facts) {
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
