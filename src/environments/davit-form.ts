import { z } from 'zod'
import type { CodeSettings, Process } from '../db/schema.ts'
import { AppError } from '../platform/errors.ts'
import type { Rules } from '../projects/davit-file.ts'
import type { Mistake } from '../projects/davit-text.ts'
import { buildForm } from '../projects/build-form.ts'
import { camelCase, snakeCase } from '../web/body.ts'
import { asSent } from '../web/json-schema.ts'
import { field, lookOf } from '../web/schema-fields.tsx'
import { withCode } from './code-settings.ts'
import { environmentForm } from './forms.ts'
import { strictProcesses } from './process-form.ts'
import { codeSchedules } from './schedule-form.ts'
import { hasPort, refuseUnfit, refuseUnspread, web } from './processes.ts'
import type { Environment } from './store.ts'

const { releaseCommand, port, healthPath, healthTimeout } = environmentForm.shape

const fileKeys = {
  build: buildForm.shape.buildSettings,
  processes: field(strictProcesses().nullish(), lookOf(environmentForm.shape.processes)!),
  release_command: releaseCommand,
  port,
  health_path: healthPath,
  health_timeout: healthTimeout,
  schedules: codeSchedules().nullish(),
  watch_paths: buildForm.shape.watchPaths,
}

/** The keys of davit.yaml, with the rules of the forms' fields. A key without a value isn't set. */
const davitForm = z
  .strictObject(
    { ...fileKeys, $schema: z.string('must be an address.').optional() },
    'must have keys with values, such as port: 8080.',
  )
  .transform(({ $schema: _, ...given }) => {
    const set = Object.entries(given).filter(([, value]) => value != null)
    return Object.fromEntries(
      set.map(([key, value]) => [key === 'build' ? key : camelCase(key), value]),
    ) as CodeSettings['settings']
  })

type EnvironmentContext = { environment: Environment; edge: { isOn: boolean } }

export const davitRules = (
  place?: EnvironmentContext,
): Required<Rules<CodeSettings['settings']>> => ({
  schema: davitForm,
  unknown: whyUnknown,
  check: (settings) => [
    ...(place ? aboveLimits(settings, place.environment) : []),
    ...unfit(settings, place),
  ],
})

function whyUnknown(path: readonly PropertyKey[]) {
  const key = String(path.at(-1))
  if (path.length > 1) return 'isn’t a setting there.'
  if (Object.hasOwn(fileKeys, snakeCase(key))) return `is ${snakeCase(key)} in this file.`
  if (Object.hasOwn(environmentForm.shape, camelCase(key)))
    return 'can’t be set here. Change it in the settings of the environment.'
  if (/^(env|environment|variables|secrets|services|links)$/.test(key))
    return 'can’t be set here. Set variables and links at the environment.'
  return `isn’t a key of this file. The keys are ${Object.keys(fileKeys).join(', ')}.`
}

/** A commit can't give its processes more than the environment's owner does. */
function aboveLimits(
  { processes = [] }: CodeSettings['settings'],
  environment: Pick<Environment, 'memoryMb' | 'cpus'>,
): Mistake[] {
  return processes.flatMap((process, at) =>
    (['memoryMb', 'cpus'] as const)
      .filter((name) => (process[name] ?? 0) > environment[name])
      .map((name) => ({
        path: ['processes', at, snakeCase(name)],
        message: `is ${process[name]}, more than the environment’s ${environment[name]}. Lower it, or raise the environment’s.`,
      })),
  )
}

/** A port needs a process that has it, requests must reach each of its replicas, and a host port must lead to it. */
function unfit(settings: CodeSettings['settings'], place?: EnvironmentContext): Mistake[] {
  const own = place && withCode(place.environment, null)
  const { port, processes } = { ...(own ?? { port: null, processes: [onlyWeb] }), ...settings }
  try {
    refuseUnfit({ port, processes })
    if (own) refuseUnspread({ port, processes, portSet: own.portSet }, place.edge)
    const isLone = own?.portSet && hasPort(own) && !hasPort({ port, processes })
    return isLone ? [{ path: [settings.port === 0 ? 'port' : 'processes'], message: lone }] : []
  } catch (error) {
    const [field] = (error as AppError).fields
    return [{ path: [settings.processes ? 'processes' : 'port'], message: field!.message }]
  }
}

const lone =
  'takes the port from the app, but its environment has a host port of its own. Clear that in the settings of the environment, or give the app a port.'

const onlyWeb = { name: web } as Process

/** For editors; made from the rules. */
export function davitSchema() {
  const schema = z.toJSONSchema(davitForm, {
    io: 'input',
    unrepresentable: 'any',
    override: asSent,
  })
  return { title: 'davit.yaml', ...(inFileNames(schema) as object) }
}

/** The keys of processes have the names of the file, as all others do. */
function inFileNames(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(inFileNames)
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => [
      name,
      name === 'properties'
        ? Object.fromEntries(
            Object.entries(value).map(([key, one]) => [snakeCase(key), inFileNames(one)]),
          )
        : inFileNames(value),
    ]),
  )
}
