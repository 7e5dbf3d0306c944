import type { Network } from '../../docker/index.ts'
import { readLabels } from '../../docker/labels.ts'
import { isAnotherDavits, isOurs } from './facts.ts'
import type { Facts } from './facts.ts'
import type { Verdict } from './kinds.ts'

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
