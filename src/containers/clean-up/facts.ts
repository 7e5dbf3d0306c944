import type { Db } from '../../db/index.ts'
import type { DiskUse, Docker, Network } from '../../docker/index.ts'
import { areDavits, readLabels } from '../../docker/labels.ts'
import type { Collector } from '../../logs/collector.ts'
import { listDeployed, readNeeds } from './store.ts'
import type { Needs } from './store.ts'

export type PruneDeps = { db: Db; docker: Docker; collector: Collector; instanceId: string }

/** Everything that decides what may be removed. */
export type Facts = DiskUse & {
  instanceId: string
  networks: Network[]
  needs: Needs
  /** Container ids by deployment, for the deployments that the containers' labels name. */
  deployed: Map<string, Set<string>>
}

export async function gatherFacts(
  { db, docker, instanceId }: Pick<PruneDeps, 'db' | 'docker' | 'instanceId'>,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Facts> {
  const [use, networks] = await Promise.all([
    docker.diskUse({ signal }),
    docker.listNetworks({ signal }),
  ])
  const named = use.containers.flatMap(({ labels }) => readLabels(labels).deploymentId || [])
  return {
    ...use,
    instanceId,
    networks,
    needs: readNeeds(db),
    deployed: listDeployed(db, [...new Set(named)]),
  }
}

/** Reads the needs again and reuses the engine's state. */
export const withNeedsOf = ({ db }: { db: Db }, facts: Facts): Facts => ({
  ...facts,
  needs: readNeeds(db),
})

type Labels = Record<string, string>

export const isOurs = ({ instanceId }: Facts, labels: Labels) =>
  readLabels(labels).instanceId === instanceId

/** True for what another installation of Davit on this engine created and manages. */
export const isAnotherDavits = (facts: Facts, labels: Labels) =>
  areDavits(labels) && !isOurs(facts, labels)
