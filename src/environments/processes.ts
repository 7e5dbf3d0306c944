import { invalidField } from '../platform/errors.ts'
import type { Environment } from './store.ts'

type Settings = Pick<Environment, 'port' | 'processes'>

/** The process that has the port and the addresses. */
export const web = 'web'

/** What containers that run beside no process are called: the release command's, and those of runs. */
export const onceNames = ['release', 'run'] as const

/** Whether its app is reached on a port; which one, only its image may say. */
export const hasPort = ({ port, processes }: Settings) =>
  port !== 0 && processes.some(({ name }) => name === web)

/** Refuses processes that don't fit the port: `web` has it, and a port of the host leads to one container. */
export function refuseUnfit({ port, processes }: Settings) {
  const refuse = (message: string) => {
    throw invalidField('processes', message)
  }
  const replicas = processes.find(({ name }) => name === web)?.replicas ?? 0
  if (replicas === 0 && port)
    refuse(`have no ${web}, which has port ${port}. Name one of them ${web}, or set the port to 0.`)
  if (replicas > 1 && port !== 0)
    refuse(
      `have ${replicas} replicas of ${web}, but its port can lead to one container only. Set the replicas to 1, or the port to 0.`,
    )
}

/** Containers that its processes run in. */
export const countReplicas = ({ processes }: Pick<Settings, 'processes'>) =>
  processes.reduce((sum, { replicas }) => sum + replicas, 0)
