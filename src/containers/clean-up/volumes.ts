import type { UsedVolume } from '../../docker/index.ts'
import { readLabels } from '../../docker/labels.ts'
import { isAnotherDavits, isOurs } from './facts.ts'
import type { Facts } from './facts.ts'
import type { Verdict } from './kinds.ts'

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
