import { z } from 'zod'
import { branchName } from '../projects/forms.ts'
import { block, decimal, flag, line, lines, whole } from '../web/fields.ts'

const slug = line('a name such as production', { max: 40 }).regex(
  /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
  'wants lower-case letters, digits and hyphens, such as production or pr-12.',
)

const domain = line('a host name', { max: 253 }).regex(
  /^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/i,
  'wants host names such as app.example.com, without http://.',
)

const volume = line('name:/path', { max: 300 }).regex(
  /^[a-z0-9][a-z0-9_.-]{0,62}:\/(?!\/)[^:]+$/,
  'wants entries such as data:/var/lib/app: a lower-case name, a colon, an absolute path.',
)

const volumes = lines(
  volume.refine((entry) => !/\/\.\.?(\/|$)/.test(entry), 'wants a path without . and .. in it.'),
  { max: 20 },
).refine(
  (entries) => new Set(entries.map((entry) => entry.split(':')[1])).size === entries.length,
  'mounts two volumes at one path.',
)

const settings = {
  branch: branchName.nullish(),
  port: whole('a port (0 for a worker without one)', { min: 0, max: 65535 }).nullish(),
  hostPort: whole('a port of this host', { min: 1, max: 65535 }).nullish(),
  domains: lines(domain, { max: 50 }).nullish(),
  healthPath: line('a path such as /health', { max: 500 })
    .regex(/^\/[^\s#]*$/, 'wants a path that begins with /, such as /health.')
    .nullish(),
  healthTimeout: whole('seconds', { min: 1, max: 3600 }).nullish(),
  memoryMb: whole('megabytes', { min: 16, max: 4_194_304 }).nullish(),
  cpus: decimal('processors', { min: 0.05, max: 512 }).nullish(),
  autoDeploy: flag().nullish(),
  volumes: volumes.nullish(),
}

export const environmentForm = z.object({ name: slug, ...settings })
export const environmentUpdateForm = z.object({ name: slug.optional(), ...settings })

const key = line('a name such as DATABASE_URL', { max: 200 }).regex(
  /^[A-Za-z_][A-Za-z0-9_]*$/,
  'wants letters, digits and underscores, and no digit first.',
)

/** 128 KiB is what Linux takes for one entry of a process's environment. */
const value = block('a value', { max: 100_000 })

export const variableForm = z
  .object({
    key: key.nullish(),
    value: value.nullish(),
    secret: flag().nullish(),
    buildTime: flag().nullish(),
    dotenv: block('the text of a .env file', { max: 500_000 }).nullish(),
  })
  .refine((form) => form.key || form.dotenv, { path: ['key'], message: 'wants a name.' })

export const variableUpdateForm = z.object({
  key: key.optional(),
  value: value.nullish(),
  secret: flag().nullish(),
  buildTime: flag().nullish(),
})
