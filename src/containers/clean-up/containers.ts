import type { UsedContainer } from '../../docker/index.ts'
import { readLabels } from '../../docker/labels.ts'
import { isAnotherDavits, isOurs } from './facts.ts'
import type { Facts } from './facts.ts'
import type { Verdict } from './kinds.ts'

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
    if (environment?.containerId === id) return stay(`it is what ${environment.name} runs in`)
    if (environment?.busy) return stay(`a deployment to ${environment.name} is at work`)
    const known = deployed.get(deploymentId)
    if (known && known !== id) return byHand
    if (!environment) return go('its environment is gone')
    if (known === undefined) return { ...byHand, reason: 'Davit does not know its deployment' }
    return go(`${environment.name} runs in another container by now`)
  }
}
