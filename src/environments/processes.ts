import type { Process } from '../db/schema.ts'
import { slotCount } from '../edge/plan.ts'
import { invalidField } from '../platform/errors.ts'

type Settings = { port: number | null; processes: Process[] }

/** The process that has the port and the addresses. */
export const web = 'web'

/** The process names of one-off containers: release commands and runs. */
export const onceNames = ['release', 'run'] as const

/** True when its app has a port. Which one may depend on the image. */
export const hasPort = ({ port, processes }: Settings) =>
  port !== 0 && processes.some(({ name }) => name === web)

export const portNamedBy = (value: string) =>
  /^[1-9]\d{0,4}$/.test(value) && Number(value) <= 65_535 ? Number(value) : null

/** Explains why the port of an app with that PORT is unknown; null when it is known, or irrelevant. */
export function whyPortUnknown(environment: Settings, value: string | undefined) {
  if (value === undefined || !hasPort(environment) || portNamedBy(value) !== null) return null
  const { port } = environment
  return port !== null && value.endsWith(`:${port}`)
    ? null
    : 'The variable PORT must be a port from 1 to 65535, or end with the app port of the environment, such as 0.0.0.0:8080 with the app port 8080: requests are sent there.'
}

export function refuseUnfit({ port, processes }: Settings) {
  if (!port || processes.some(({ name }) => name === web)) return
  throw invalidField(
    'processes',
    `must include ${web}, which has port ${port}. Name one of them ${web}, or set the port to 0.`,
  )
}

/** Throws when a port of this server was chosen that would lead to no port of the app. */
export function refuseLoneHostPort(environment: Settings & { portSet: boolean }) {
  if (!environment.portSet || hasPort(environment)) return
  throw invalidField(
    'hostPort',
    'must be empty, because the app has no port. Clear it, or give the app a port.',
  )
}

/** Explains why its `web` can't have several replicas, and what to do; null when nothing is wrong. */
export function whyNotSpread(
  { port, portSet, processes }: Settings & { portSet: boolean },
  { isOn }: { isOn: boolean },
) {
  const replicas = processes.find(({ name }) => name === web)?.replicas ?? 0
  if (replicas <= 1 || port === 0) return null
  if (isOn && !portSet)
    return replicas <= slotCount
      ? null
      : `have ${replicas} replicas of ${web}, but requests are spread over ${slotCount} at most. Set the replicas to ${slotCount} or fewer.`
  const advice = isOn
    ? 'Leave the host port empty, so that requests are spread over them, or set the replicas to 1.'
    : 'Add a domain, so that requests are spread over them, or set the replicas to 1, or the port to 0.'
  return `have ${replicas} replicas of ${web}, but a port of this server can only lead to one container. ${advice}`
}

/** Throws the reason that `whyNotSpread` returns. */
export function refuseUnspread(
  environment: Parameters<typeof whyNotSpread>[0],
  edge: { isOn: boolean },
) {
  const why = whyNotSpread(environment, edge)
  if (why !== null) throw invalidField('processes', why)
}

export const countReplicas = ({ processes }: Pick<Settings, 'processes'>) =>
  processes.reduce((sum, { replicas }) => sum + replicas, 0)
