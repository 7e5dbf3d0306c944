import type { Deps } from '../deps.ts'
import type { ContainerSummary } from '../docker/index.ts'
import type { User } from '../web/factory.ts'
import { getDeployedPlaces, getServicePlaces } from './store.ts'
import type { StopReason } from './store.ts'

type Named = { id: string; name: string }

/** Davit's; one with neither project nor service serves Davit itself, and has no owner. */
export type OwnPlace = {
  kind: 'own'
  owner: { id: string; email: string } | null
  project: Named | null
  environment: Named | null
  deployment: { id: string; status: string; stopReason: StopReason | null } | null
  service: Named | null
}

/** What a container is part of. */
export type Place = OwnPlace | { kind: 'other' }

type Labelled = Pick<ContainerSummary, 'id' | 'labels'>

const other: Place = { kind: 'other' }

/**
 * Says of each container where it belongs. Labels alone prove nothing, as whoever makes a container
 * writes them: what they name must be in the database, and agree with it.
 */
export function placeContainers(
  { db, instanceId }: Pick<Deps, 'db' | 'instanceId'>,
  containers: Labelled[],
): (container: Labelled) => Place {
  const ours = containers.filter(({ labels }) => labels['davit.instance'] === instanceId)
  const named = (label: string) => ours.flatMap(({ labels }) => labels[label] || [])
  const deployed = getDeployedPlaces(db, named('davit.deployment'))
  const services = getServicePlaces(db, named('davit.service'))

  return ({ id, labels }) => {
    if (labels['davit.instance'] !== instanceId) return other
    const kind = labels['davit.kind']
    if (kind === 'app') return placeOfApp(id, labels)
    if (kind === 'service') return placeOfService(labels)
    return kind === 'build' || kind === 'edge' ? nowhere : other
  }

  function placeOfApp(id: string, labels: Labelled['labels']): Place {
    const found = deployed.get(labels['davit.deployment'] ?? '')
    if (
      !found ||
      found.owner.id !== labels['davit.owner'] ||
      found.project.id !== labels['davit.project'] ||
      found.environment.id !== labels['davit.environment'] ||
      (found.containerId !== null && found.containerId !== id)
    )
      return other
    const { owner, project, environment, status, stopReason } = found
    const deployment = { id: found.id, status, stopReason }
    return { ...nowhere, owner, project, environment, deployment }
  }

  function placeOfService(labels: Labelled['labels']): Place {
    const found = services.get(labels['davit.service'] ?? '')
    if (!found || found.owner.id !== labels['davit.owner']) return other
    const { owner, id, name } = found
    return { ...nowhere, owner, service: { id, name } }
  }
}

const nowhere: OwnPlace = {
  kind: 'own',
  owner: null,
  project: null,
  environment: null,
  deployment: null,
  service: null,
}

/** A member sees what is theirs, an admin everything. */
export const maySee = (user: Pick<User, 'id' | 'role'>, place: Place) =>
  user.role === 'admin' || (place.kind === 'own' && place.owner?.id === user.id)
