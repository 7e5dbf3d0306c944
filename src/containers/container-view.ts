import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import type { Container, ContainerSummary } from '../docker/index.ts'
import type { Masks } from '../logs/masks.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { User } from '../web/factory.ts'
import { ago } from '../web/times.tsx'
import { serverNames } from '../runtime/on-engine.ts'
import { conditionOf } from '../runtime/observed-containers.ts'
import type { FoundContainer } from './find.ts'
import type { Row, RowDeps } from './row.ts'
import { shownEnvironment } from './shown-environment.ts'
import { mayOpenTerminal } from './terminal/permission.ts'
import type { ShownVariable } from './shown-environment.ts'

export type ContainerView = Row & {
  /** Known secrets are masked, and the environment is omitted. */
  container: Omit<Container, 'env' | 'exitCode' | 'command' | 'labels'> &
    Pick<ContainerSummary, 'status' | 'exitCode'>
  /** Null for users who may not see text that the owner wrote, as it may contain secrets. */
  texts: Pick<Container, 'command' | 'labels'> | null
  environment: ShownVariable[]
  /** True if the user can open the pages of its project or service. */
  isOwner: boolean
  hasTerminal: boolean
}

export type ViewDeps = RowDeps & {
  db: Db
  secrets: Secrets
  masks: Masks
  config: Pick<Config, 'terminal'>
}

export async function containerView(
  deps: ViewDeps,
  { container, place }: FoundContainer,
  user: Pick<User, 'id' | 'role'>,
  { seesTexts }: { seesTexts: boolean },
): Promise<ContainerView> {
  const { environment, mask } = await shownEnvironment(deps, { container, place })
  const { env: _, ...shown } = container
  const labels = Object.entries(container.labels).map(([key, value]) => [key, mask(value)])
  const texts = {
    command: container.command.map((word) => mask(word)),
    labels: Object.fromEntries(labels),
  }
  return {
    place,
    texts: seesTexts ? texts : null,
    container: {
      ...shown,
      oomKilled: container.oomKilled || deps.observed.crashes.ranOut(container.id),
      status: engineStatus(container),
      exitCode: container.state === 'exited' ? container.exitCode : null,
    },
    environment,
    isOwner: place.kind === 'own' && place.owner?.id === user.id,
    hasTerminal: container.state === 'running' && mayOpenTerminal(deps.config, { user, place }),
    condition: conditionOf(container),
    looping: deps.observed.isLooping(container.id),
    server: serverNames(deps).get(container.serverId) ?? null,
    usage: container.state === 'running' ? deps.usage.latest(container.id) : null,
  }
}

/** Written like the engine's own phrase, which only its list of containers has. */
function engineStatus(container: Container) {
  const { state, exitCode, startedAt, finishedAt, health } = container
  const now = new Date()
  if (state === 'exited') return `Exited (${exitCode}) ${finishedAt ? ago(finishedAt, now) : ''}`
  if (state !== 'running') return state[0]!.toUpperCase() + state.slice(1)
  return `Up since ${startedAt ? ago(startedAt, now) : 'now'}${health ? ` (${health})` : ''}`
}
