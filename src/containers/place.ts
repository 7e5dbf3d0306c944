import type { Db } from '../db/index.ts'
import type { ContainerSummary } from '../docker/index.ts'
import { readLabels } from '../docker/labels.ts'
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
type Said = ReturnType<typeof readLabels>

const other: Place = { kind: 'other' }

/**
 * Says of each container where it belongs. Labels alone prove nothing, as whoever makes a container
 * writes them: what they name must be in the database, and agree with it. The owner is the one of now:
 * the label names the one for whom the container was made, who may have been deleted since.
 */
export function placeContainers(
  { db, instanceId }: { db: Db; instanceId: string },
  containers: Labelled[],
): (container: Labelled) => Place {
  const ours = containers
    .map(({ labels }) => readLabels(labels))
    .filter((said) => said.instanceId === instanceId)
  const named = (field: 'deploymentId' | 'serviceId') => ours.flatMap((said) => said[field] || [])
  const deployed = getDeployedPlaces(db, named('deploymentId'))
  const services = getServicePlaces(db, named('serviceId'))

  return ({ id, labels }) => {
    const said = readLabels(labels)
    if (said.instanceId !== instanceId) return other
    if (said.kind === 'app') return placeOfApp(id, said)
    if (said.kind === 'service') return placeOfService(said)
    return said.kind === 'build' || said.kind === 'edge' ? nowhere : other
  }

  function placeOfApp(id: string, said: Said): Place {
    const found = deployed.get(said.deploymentId)
    if (
      !found ||
      found.project.id !== said.projectId ||
      found.environment.id !== said.environmentId ||
      (found.containerId !== null && found.containerId !== id)
    )
      return other
    const { owner, project, environment, status, stopReason } = found
    const deployment = { id: found.id, status, stopReason }
    return { ...nowhere, owner, project, environment, deployment }
  }

  function placeOfService(said: Said): Place {
    const found = services.get(said.serviceId)
    if (!found) return other
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
