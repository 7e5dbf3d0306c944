import type { Environment } from './store.ts'

type Settings = Pick<Environment, 'port' | 'processes'>

/** The process that has the port and the addresses. */
export const web = 'web'

/** What containers that run beside no process are called: the release command's, and those of runs. */
export const onceNames = ['release', 'run'] as const

/** Whether its app is reached on a port; which one, only its image may say. */
export const hasPort = ({ port, processes }: Settings) =>
  port !== 0 && processes.some(({ name }) => name === web)

/** Containers that its processes run in. */
export const countReplicas = ({ processes }: Pick<Settings, 'processes'>) =>
  processes.reduce((sum, { replicas }) => sum + replicas, 0)
