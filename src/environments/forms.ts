import { posix } from 'node:path'
import { z } from 'zod'
import { hostName } from '../addresses/hosts.ts'
import { refuseRefPattern } from '../git/ref-pattern.ts'
import { containerLimits, longestWatch } from '../platform/limits.ts'
import { variableName } from '../projects/forms.ts'
import { block, command, decimal, flag, line, lines, unless, whole } from '../web/fields.ts'
import { flagField } from '../web/labelled-fields.ts'
import { field } from '../web/schema-fields.tsx'
import { placement } from './placement.ts'
import { processes } from './process-form.ts'
import { rollbackReasons } from './store.ts'

const slug = line('a name such as production', { max: 40 }).regex(
  /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
  'must be lower-case letters, digits and hyphens, such as production or pr-12.',
)

/** Docker reads `/a//b/` as `/a/b`. */
const mountedAt = (entry: string) => posix.resolve('/', entry.split(':')[1] ?? '')

const volume = line('name:/path', { max: 300 }).regex(
  /^[a-z0-9][a-z0-9_.-]{0,62}:\/(?!\/)[^:]+$/,
  'must be entries such as data:/var/lib/app: a lower-case name, a colon, an absolute path.',
)

const volumes = lines(
  volume.refine((entry) => !/\/\.\.?(\/|$)/.test(entry), 'can’t have . or .. in a path.'),
  { max: 20 },
).refine(
  (entries) => new Set(entries.map(mountedAt)).size === entries.length,
  'can’t mount two volumes at the same path.',
)

/** Excludes system ports and those of a Docker Engine. */
export const hostPort = whole('a port of this server', { min: 1024, max: 65535 }).refine(
  (port) => port !== 2375 && port !== 2376,
  'is used by Docker Engines. Choose another port.',
)

const followed = (what: string) => line(what, { max: 250 }).superRefine(unless(refuseRefPattern))

const nextDeployment = 'with the next deployment'

/** An empty field uses the default that its placeholder shows. */
export const environmentForm = z.object({
  name: field(slug, {
    label: 'Name',
    group: 'general',
    code: true,
    isNarrow: true,
    applies: nextDeployment,
  }),
  branch: field(followed('a branch').nullish(), {
    label: 'Branch',
    group: 'general',
    placeholder: 'the project’s',
    hint: 'A branch, a tag, or a pattern of branches such as release/*. Leave empty to use the project’s, or none with tags.',
    code: true,
    isNarrow: true,
  }),
  tags: field(followed('a tag').nullish(), {
    label: 'Tags',
    group: 'general',
    placeholder: 'v*',
    hint: 'A pattern of tags that are deployed when they are pushed. Leave empty for none.',
    code: true,
    isNarrow: true,
  }),
  autoDeploy: field(flag().nullish(), { label: 'Deploy on push', group: 'general', options: [] }),
  waitForChecks: flagField('Wait for checks', {
    group: 'general',
    hint: 'Deploys a pushed commit when all its checks at the provider have passed. Needs a git source.',
  }),
  promoteFrom: field(line('the id of an environment', { max: 100 }).nullish(), {
    label: 'Promote from',
    group: 'general',
    hint: 'It then gets the versions of that environment, without a build, and pushes don’t deploy it.',
    options: [],
    isNarrow: true,
  }),
  promoteAutomatically: flagField('Promote automatically', {
    group: 'general',
    hint: 'Each version as soon as it is live there. Otherwise you promote it.',
  }),
  port: field(whole('a port (0 for a worker without one)', { min: 0, max: 65535 }).nullish(), {
    label: 'App port',
    group: 'network',
    inputmode: 'numeric',
    placeholder: 'what the image exposes',
    hint: 'The app listens on it (variable PORT; one of yours takes precedence). Enter 0 for a worker without a port.',
    isNarrow: true,
    applies: nextDeployment,
  }),
  hostPort: field(hostPort.nullish(), {
    label: 'Host port',
    group: 'network',
    inputmode: 'numeric',
    placeholder: 'a free one',
    hint: 'The port on this server. Leave empty for a free one: with a chosen port, each deployment briefly interrupts visitors.',
    isNarrow: true,
    applies: nextDeployment,
  }),
  domains: field(lines(hostName, { max: 50 }).nullish(), {
    label: 'Domains',
    group: 'network',
    placeholder: 'app.example.com',
    hint: 'One per line. The first one is the app’s address. The Domains tab shows the DNS records they need.',
    code: true,
    isLong: true,
  }),
  drainSeconds: field(whole('seconds', { min: 0, max: 3600 }).nullish(), {
    label: 'Drain time',
    unit: 'seconds',
    group: 'network',
    inputmode: 'numeric',
    placeholder: '30',
    hint: 'How long open requests, WebSockets and downloads may continue when a version is replaced. Only with a domain.',
  }),
  watchSeconds: field(whole('seconds', { min: 0, max: longestWatch }).nullish(), {
    label: 'Watch time',
    unit: 'seconds',
    group: 'watch',
    inputmode: 'numeric',
    placeholder: 'the server’s default',
    hint: 'How long a new version is watched after the switch, with the version before ready to take over. Enter 0 for no watch. Only with a domain, and without volumes, a host port of its own or processes besides web.',
  }),
  rollbackOn: field(
    lines(z.enum(rollbackReasons, 'must be crash, health or errors.'), {
      max: rollbackReasons.length,
    })
      .refine((all) => all.length > 0, 'must have at least one. For no watch, set its time to 0.')
      .refine((all) => new Set(all).size === all.length, 'can have each only once.')
      .nullish(),
    {
      label: 'Go back on',
      group: 'watch',
      hint: 'What sends requests back to the version before. Select none for the default: a crash and failed health checks.',
      isMany: true,
      options: [
        { value: 'crash', label: 'A crash, or a kill for memory' },
        { value: 'health', label: 'Three failed health checks in a row' },
        { value: 'errors', label: 'Many responses with status 5xx' },
      ],
    },
  ),
  processes: field(processes().nullish(), {
    label: 'Processes',
    group: 'processes',
    placeholder: 'web:\nworker x2 256MiB 0.5CPU 30s: npm run worker',
    hint: "One per line: a name, a colon, a command. Without a command it runs the image’s default command. Only web has the port. x2 runs two replicas; MiB and CPU set its own limits; 30s gives it 30 seconds to stop instead of 10; no-init makes it process 1 of its container. For && or $NAME: sh -c '…'.",
    code: true,
    isLong: true,
    applies: nextDeployment,
  }),
  releaseCommand: field(command().nullish(), {
    label: 'Release command',
    group: 'processes',
    placeholder: 'npm run migrate',
    hint: 'Runs once with the new image before the switch. If it fails, the live version stays.',
    code: true,
    isLong: true,
    applies: nextDeployment,
  }),
  releaseTimeout: field(whole('seconds', { min: 1, max: 3600 }).nullish(), {
    label: 'Release timeout',
    unit: 'seconds',
    group: 'processes',
    inputmode: 'numeric',
    placeholder: '600',
    applies: nextDeployment,
  }),
  healthPath: field(
    line('a path such as /health', { max: 500 })
      .regex(/^\/[^\s#]*$/, 'must be a path that starts with /, such as /health.')
      .nullish(),
    {
      label: 'Health path',
      group: 'health',
      placeholder: '/health',
      hint: 'Leave empty to only check that the port accepts connections.',
      code: true,
      isNarrow: true,
      applies: nextDeployment,
    },
  ),
  healthTimeout: field(whole('seconds', { min: 1, max: 3600 }).nullish(), {
    label: 'Health timeout',
    unit: 'seconds',
    group: 'health',
    inputmode: 'numeric',
    placeholder: '60',
    isNarrow: true,
    applies: nextDeployment,
  }),
  healthHost: field(
    line('a name such as app.example.com', { max: 253 })
      .regex(
        /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/i,
        'must be a name such as app.example.com or localhost, without a port.',
      )
      .nullish(),
    {
      label: 'Health host',
      group: 'health',
      placeholder: 'app.example.com',
      hint: 'The host that the health path is asked for. Leave empty for the first domain, or localhost without one.',
      code: true,
      applies: nextDeployment,
    },
  ),
  memoryMb: field(whole('MiB', { min: 16, max: containerLimits.memoryMb }).nullish(), {
    label: 'Memory',
    unit: 'MiB',
    group: 'health',
    inputmode: 'numeric',
    placeholder: '512',
    isNarrow: true,
    applies: nextDeployment,
  }),
  cpus: field(decimal('processors', { min: 0.05, max: containerLimits.cpus }).nullish(), {
    label: 'Processors',
    group: 'health',
    inputmode: 'decimal',
    placeholder: '1',
    isNarrow: true,
    applies: nextDeployment,
  }),
  placement: field(placement().nullish(), {
    label: 'Servers',
    group: 'processes',
    placeholder: 'the one that Davit runs on',
    hint: 'The name of a server, or labels such as zone=east: its containers are spread over the servers that have them. With volumes, all are on one.',
    code: true,
    isNarrow: true,
    applies: nextDeployment,
  }),
  volumes: field(volumes.nullish(), {
    label: 'Volumes',
    group: 'volumes',
    placeholder: 'data:/var/lib/app',
    hint: 'One name:/path per line. Files there are kept between deployments. A VOLUME of the image is kept only if it is listed here.',
    code: true,
    isLong: true,
    applies: nextDeployment,
  }),
})

export type EnvironmentField = keyof typeof environmentForm.shape

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
  .superRefine(({ key, value, buildTime, dotenv }, context) => {
    const complain = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message })
    if (dotenv && key) complain('dotenv', 'can’t be combined with a key. Send one or the other.')
    if (dotenv && buildTime)
      complain('buildTime', 'can’t be combined with a .env file. Mark single variables for builds.')
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
