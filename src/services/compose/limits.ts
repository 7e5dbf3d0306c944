import { containerLimits } from '../../platform/limits.ts'
import type { Danger } from './dangers.ts'
import { danger, harmlessCapabilities } from './dangers.ts'
import { pairsOf } from './environment.ts'
import type { Field } from './field.ts'
import { quote } from './field.ts'
import type { Service } from './model.ts'
import { bytesOf } from './units.ts'
import { ignoredOfDeploy } from './unsupported.ts'

const ulimitNames = [
  'core',
  'cpu',
  'data',
  'fsize',
  'locks',
  'memlock',
  'msgqueue',
  'nice',
  'nofile',
  'nproc',
  'rss',
  'rtprio',
  'rttime',
  'sigpending',
  'stack',
]

/** Used when the file sets none. */
export const defaultMemory = 512 * 1024 * 1024

/** The minimum with which the engine starts a container. */
const minMemory = 6 * 1024 * 1024

type Resources = Pick<Service, 'memoryBytes' | 'reservedBytes' | 'cpus' | 'pids'>

/** Reads the limits of the service itself, and of `deploy.resources`, which take precedence. */
export function resourcesOf(get: (key: string) => Field): Resources {
  const bytes = (field: Field) => bytesOf(field, { min: minMemory })
  const cores = (field: Field) =>
    field.number({ min: 0.01, max: containerLimits.cpus, whole: false })
  const processes = (field: Field) => field.number({ min: 1, max: containerLimits.pids })
  const resources = get('deploy')
    .only(['resources', 'replicas', 'restart_policy', 'mode'], undefined, ignoredOfDeploy)
    .get('resources')
    .only(['limits', 'reservations'])
  const limits = resources.get('limits').only(['cpus', 'memory', 'pids'])
  const reserved = resources.get('reservations').only(['cpus', 'memory'])
  reserved.get('cpus').or(null, cores)
  const memoryBytes = limits.get('memory').or(get('mem_limit').or(null, bytes), bytes)
  return {
    memoryBytes,
    reservedBytes: reserved
      .get('memory')
      .or(null, (field) => bytesOf(field, { min: minMemory, max: memoryBytes ?? defaultMemory })),
    cpus: limits.get('cpus').or(get('cpus').or(null, cores), cores),
    pids: limits.get('pids').or(get('pids_limit').or(null, processes), processes),
  }
}

/** The maximum for limits that affect the whole host; others only bind the process itself. */
const maxOf: Record<string, number> = {
  nofile: containerLimits.openFiles,
  // with more, a process could block every other one on the host
  rtprio: 0,
}

export const ulimitsOf = (field: Field): Service['ulimits'] =>
  field.entries().map(([name, limit]) => {
    if (!ulimitNames.includes(name))
      throw limit.refuse(`isn’t a process limit. Use one of ${ulimitNames.join(', ')}.`)
    const max = maxOf[name]
    const number = (field: Field) =>
      field.number(max === undefined ? { min: -1, max: 2 ** 40 } : { min: 0, max })
    if (!limit.isMap) return { name, soft: number(limit), hard: number(limit) }
    limit.only(['soft', 'hard'])
    return { name, soft: number(limit.get('soft')), hard: number(limit.get('hard')) }
  })

/** Allows only settings that are separate for each container. */
export function sysctlsOf(field: Field): Map<string, string> {
  const own = /^(net\.[a-z0-9_./-]+|kernel\.(shm[a-z_]+|msg[a-z_]+|sem)|fs\.mqueue\.[a-z_]+)$/
  return new Map(
    pairsOf(field).map(([name, item, value]) => {
      if (!own.test(name)) throw item.refuse(`sets ${quote(name)}, which affects the whole server.`)
      if (value === null || !/^[\w .-]{1,200}$/.test(value)) throw item.refuse('must be a number.')
      return [name, value]
    }),
  )
}

export function capabilitiesOf(field: Field, service: string) {
  const names = field.items().map((item) =>
    item
      .matching(/^[a-z_]{2,40}$/i, 'a capability such as NET_RAW')
      .toUpperCase()
      .replace(/^CAP_/, ''),
  )
  const dangers: Danger[] = names
    .filter((name) => !harmlessCapabilities.includes(name))
    .map((name) => danger(service, 'capability', name))
  return { names, dangers }
}

/** Davit reads the logs of the `json-file` driver, so only its limits can be set. */
export function logsOf(field: Field): Service['logs'] {
  if (field.absent) return null
  field.only(['driver', 'options'])
  const driver = field
    .get('driver')
    .or('local', (driver) => driver.oneOf(['json-file', 'local', 'none']))
  if (driver === 'none') field.note('is ignored. Davit keeps the end of each log.')
  const options = field.get('options').only(['max-size', 'max-file'])
  const maxSize = options.get('max-size').or('10m', (field) => {
    const bytes = bytesOf(field)
    if (bytes < 1024) throw field.refuse('must be a size from 1k to 100m.')
    return `${Math.ceil(capped(field, bytes, maxLog.bytes, '100m') / 1024)}k`
  })
  const maxFiles = options
    .get('max-file')
    .or(3, (field) => capped(field, field.number({ min: 1, max: 1000 }), maxLog.files, '10'))
  return { maxSize, maxFiles }
}

/** Maximum disk space of one container's log. */
const maxLog = { bytes: 100 * 1024 * 1024, files: 10 }

function capped(field: Field, value: number, max: number, shown: string) {
  if (value > max) field.note(`is limited to ${shown}, the maximum.`)
  return Math.min(value, max)
}
