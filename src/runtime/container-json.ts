import { z } from 'zod'
import { publishedOnce } from '../docker/index.ts'
import type { ContainerSummary } from '../docker/index.ts'
import { id, time } from '../web/operation.ts'
import { shownImage } from './images/private-names.ts'

/** What is shown of any container, and to whom of Davit it belongs. */
export const containerFields = () => ({
  id: z.string().regex(/^[0-9a-f]{64}$/),
  serverId: id,
  name: z.string(),
  image: z.string(),
  state: z.enum(['created', 'running', 'restarting', 'exited', 'paused', 'dead', 'removing']),
  status: z.string(),
  health: z.enum(['starting', 'healthy', 'unhealthy']).nullable(),
  createdAt: time,
  ports: z.array(z.object({ host: z.int(), container: z.int(), protocol: z.string() })),
  project: id.nullable(),
  environment: id.nullable(),
  deployment: id.nullable(),
  service: id.nullable(),
})

type Owner = {
  [kind in 'project' | 'environment' | 'deployment' | 'service']?: { id: string } | null
}

export const containerFieldsJson = (container: ContainerSummary, owner: Owner) => ({
  id: container.id,
  serverId: container.serverId,
  name: container.name,
  image: shownImage(container.image),
  state: container.state,
  status: container.status,
  health: container.health,
  createdAt: container.createdAt,
  ports: publishedOnce(container.ports),
  project: owner.project?.id ?? null,
  environment: owner.environment?.id ?? null,
  deployment: owner.deployment?.id ?? null,
  service: owner.service?.id ?? null,
})
