import type { Db } from '../db/index.ts'
import type { ContainerSummary } from '../docker/index.ts'
import { partLabel, readLabels } from '../docker/labels.ts'
import { appName } from '../notifications/texts.ts'
import type { User } from '../web/factory.ts'
import { web } from '../environments/processes.ts'
import { environmentPath } from '../environments/paths.ts'
import {
  getDeployedPlaces,
  getServicePlaces,
  listDeployedContainers,
  listReleasesOf,
  stopReasonOf,
} from './store.ts'
import type { StopReason } from './store.ts'

type Named = { id: string; name: string }

/** Without project and service, it is one that Davit itself needs, and has no owner. */
export type OwnPlace = {
  kind: 'own'
  owner: { id: string; email: string } | null
  project: Named | null
  environment: Named | null
  /** Null unless it belongs to an app or service. Replicas count from 1; null if there is one. */
  process: { name: string; replica: number | null } | null
  deployment: {
    id: string
    status: string
    stopReason: StopReason | null
    /** True for one of the version before the live one, which a rollback starts again. */
    isKept: boolean
  } | null
  service: Named | null
}

export type ContainerOwner = OwnPlace | { kind: 'other' }

type Labelled = Pick<ContainerSummary, 'id' | 'labels'>
type Said = ReturnType<typeof readLabels>

const other: ContainerOwner = { kind: 'other' }

/**
 * Finds out what each container belongs to. Labels alone prove nothing, because anyone who
 * creates a container can set them: the database must confirm them. The owner is the
 * current one, since the user in the label may have been deleted.
 */
export function placeContainers(
  { db, instanceId }: { db: Db; instanceId: string },
  containers: Labelled[],
): (container: Labelled) => ContainerOwner {
  const releases = listReleasesOf(
    db,
    containers.map(({ id }) => id),
  )
  const ours = containers.map(saidBy).filter((said) => said.instanceId === instanceId)
  const named = (field: 'deploymentId' | 'serviceId') => ours.flatMap((said) => said[field] || [])
  const deployed = getDeployedPlaces(db, named('deploymentId'))
  const instances = listDeployedContainers(db, [...deployed.keys()])
  const services = getServicePlaces(db, named('serviceId'))

  return ({ id, labels }) => {
    const said = saidBy({ id, labels })
    if (said.instanceId !== instanceId) return other
    if (said.kind === 'app') return placeOfApp({ id, labels }, said)
    if (said.kind === 'service') return placeOfService(said, labels[partLabel])
    return ['build', 'edge', 'backup'].includes(said.kind) ? nowhere : other
  }

  /** A deployment may keep a container of an earlier one. */
  function saidBy({ id, labels }: Labelled): Said {
    const said = readLabels(labels)
    const held = releases.get(id)
    return held && held.workloadId === said.environmentId
      ? { ...said, deploymentId: held.releaseId }
      : said
  }

  function placeOfApp({ id, labels }: Labelled, said: Said): ContainerOwner {
    const found = deployed.get(said.deploymentId)
    if (
      !found ||
      found.project.id !== said.projectId ||
      found.environment.id !== said.environmentId
    )
      return other
    const known = instances.get(found.id) ?? []
    const its = known.find(({ containerId }) => containerId === id)
    // an unrecorded container may be the one that is being created
    if (!its && known.length > 0 && known.every(({ containerId }) => containerId)) return other
    const name = its?.component ?? labels[partLabel] ?? web
    const isOneOf = known.some(({ component, slot }) => component === name && slot > 0)
    const process = { name, replica: its && isOneOf ? its.slot + 1 : null }
    const { owner, project, environment, status } = found
    const stopReason = stopReasonOf(found, name)
    const deployment = { id: found.id, status, stopReason, isKept: its?.state === 'standby' }
    return { ...nowhere, owner, project, environment, process, deployment }
  }

  function placeOfService(said: Said, part = ''): ContainerOwner {
    const found = services.get(said.serviceId)
    if (!found) return other
    const { owner, id, name } = found
    const process = part ? { name: part, replica: null } : null
    return { ...nowhere, owner, process, service: { id, name } }
  }
}

const nowhere: OwnPlace = {
  kind: 'own',
  owner: null,
  project: null,
  environment: null,
  process: null,
  deployment: null,
  service: null,
}

export const eventPlace = ({ owner, project, environment, service }: OwnPlace) =>
  owner && {
    ownerId: owner.id,
    projectId: project?.id ?? null,
    environmentId: environment?.id ?? null,
    serviceId: service?.id ?? null,
    ...(service
      ? { subject: service.name, href: `/services/${service.id}` }
      : {
          subject: appName(project!, environment!),
          href: `${environmentPath({ id: environment!.id, projectId: project!.id })}/output`,
        }),
  }

export const maySee = (user: Pick<User, 'id' | 'role'>, place: ContainerOwner) =>
  user.role === 'admin' || (place.kind === 'own' && place.owner?.id === user.id)

export const containerPath = ({ id }: { id: string }) => `/containers/${id}`
