import { z } from 'zod'
import { hostName } from '../addresses/hosts.ts'
import { containerLimits } from '../platform/limits.ts'
import { branchName, variableName } from '../projects/forms.ts'
import { block, command, decimal, flag, line, lines, whole } from '../web/fields.ts'
import { processes } from './process-form.ts'

const slug = line('a name such as production', { max: 40 }).regex(
  /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
  'must be lower-case letters, digits and hyphens, such as production or pr-12.',
)

const volume = line('name:/path', { max: 300 }).regex(
  /^[a-z0-9][a-z0-9_.-]{0,62}:\/(?!\/)[^:]+$/,
  'must be entries such as data:/var/lib/app: a lower-case name, a colon, an absolute path.',
)

const volumes = lines(
  volume.refine((entry) => !/\/\.\.?(\/|$)/.test(entry), 'can’t have . or .. in a path.'),
  { max: 20 },
).refine(
  (entries) => new Set(entries.map((entry) => entry.split(':')[1])).size === entries.length,
  'can’t mount two volumes at the same path.',
)

/** Excludes system ports and those of a Docker Engine. */
export const hostPort = whole('a port of this server', { min: 1024, max: 65535 }).refine(
  (port) => port !== 2375 && port !== 2376,
  'is used by Docker Engines. Choose another port.',
)

export const environmentForm = z.object({
  name: slug,
  branch: branchName.nullish(),
  port: whole('a port (0 for a worker without one)', { min: 0, max: 65535 }).nullish(),
  hostPort: hostPort.nullish(),
  domains: lines(hostName, { max: 50 }).nullish(),
  healthPath: line('a path such as /health', { max: 500 })
    .regex(/^\/[^\s#]*$/, 'must be a path that starts with /, such as /health.')
    .nullish(),
  healthHost: line('a name such as app.example.com', { max: 253 })
    .regex(
      /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/i,
      'must be a name such as app.example.com or localhost, without a port.',
    )
    .nullish(),
  healthTimeout: whole('seconds', { min: 1, max: 3600 }).nullish(),
  drainSeconds: whole('seconds', { min: 0, max: 3600 }).nullish(),
  memoryMb: whole('megabytes', { min: 16, max: containerLimits.memoryMb }).nullish(),
  cpus: decimal('processors', { min: 0.05, max: containerLimits.cpus }).nullish(),
  autoDeploy: flag().nullish(),
  volumes: volumes.nullish(),
  processes: processes().nullish(),
  releaseCommand: command().nullish(),
  releaseTimeout: whole('seconds', { min: 1, max: 3600 }).nullish(),
})

export const environmentUpdateForm = environmentForm.partial({ name: true })

/** With `procfile` the form is filled in from the repository's Procfile. */
export const editQuery = z.object({ procfile: flag().optional() })

/** In characters; below Linux's limit of 128 KiB for one environment variable. */
const value = block('a value', { max: 100_000 })

const settings = { value: value.nullish(), secret: flag().nullish(), buildTime: flag().nullish() }

export const variableForm = z
  .object({
    key: variableName.nullish(),
    ...settings,
    dotenv: block('the text of a .env file', { max: 500_000 }).nullish(),
  })
  .superRefine(({ key, value, dotenv }, context) => {
    const complain = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message })
    if (dotenv && key) complain('dotenv', 'can’t be combined with a key. Send one or the other.')
    if (dotenv) return
    if (!key) complain('key', 'must be a name such as DATABASE_URL.')
    if (value === undefined) complain('value', 'must be a value, which may be empty.')
  })

export const variablesTextForm = z.object({
  text: block('the variables as text', { max: 600_000 }).nullable(),
  /** From the form: identifies the changes that the person saw and now saves. */
  shown: line('what was shown', { max: 100 }).nullish(),
})

export const variableUpdateForm = z.object({ key: variableName.optional(), ...settings })

export const dotenvPair = z.object({ key: variableName, value })
