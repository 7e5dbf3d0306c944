import { z } from 'zod'
import {
  component,
  componentOf,
  jobFailure,
  id,
  shown,
  time,
  does,
  creates,
  works,
  reads,
  follows,
  removal,
} from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import { containerFields, containerFieldsJson } from '../runtime/container-json.ts'
import { jobLog, logLine, output, outputLine } from '../logs/json.ts'
import { serviceStatuses } from './store.ts'
import type { ContainerSummary } from '../docker/index.ts'
import type { Entry } from './catalogue.ts'
import { partLabel } from '../docker/labels.ts'
import { ofImage } from './compose/template.ts'
import type { Template } from './compose/template.ts'
import { askedFor } from './compose/values.ts'
import type { Variable } from './compose/variables.ts'
import type { Values } from './compose/variables.ts'
import { outlineOf } from './outline.ts'
import type { WantedPort } from './ports.ts'
import type { ShownService } from './shown.ts'
import type { Service } from './store.ts'

const publishedPort = () => ({
  service: z.string(),
  /** Null uses the first port that the image exposes, once it was pulled. */
  container: z.int().nullable(),
  protocol: z.enum(['tcp', 'udp']),
})

export const service = componentOf('Service', () => ({
  id,
  template: z.string(),
  name: z.string(),
  /** The hostname by which linked apps reach it. */
  host: z.string().nullable(),
  version: z.string().nullable(),
  status: z.enum(serviceStatuses),
  containers: z.array(z.object({ ...containerFields(), part: z.string() })).nullable(),
  url: z.string().nullable(),
  ports: z.array(z.object({ ...publishedPort(), host: z.int() })),
  domains: z.array(z.string()),
  /** Null for the server that Davit runs on. */
  placement: z.object({ server: id }).nullable(),
  /** The server that its volumes are on; null before it has any. */
  pinnedTo: id.nullable(),
  error: jobFailure().nullable(),
  deleting: z.boolean(),
  createdAt: time,
}))

const catalogueEntry = componentOf('CatalogueEntry', () => ({
  template: z.string(),
  name: z.string(),
  description: z.string(),
  category: z.string(),
  tags: z.array(z.string()),
  links: z.record(z.string(), z.string()),
  version: z.string(),
}))

const serviceList = componentOf('ServiceList', () => ({
  templates: z.array(catalogueEntry()),
  instances: z.array(service()),
  nextCursor: z.string().nullable(),
}))

export const template = component('Template', () =>
  catalogueEntry().extend({
    version: z.string().nullable(),
    variables: z.array(
      z.object({
        name: z.string(),
        label: z.string(),
        description: z.string().nullable(),
        default: z.string().nullable(),
        generated: z.boolean(),
        required: z.boolean(),
        pattern: z.string().nullable(),
        secret: z.boolean(),
        options: z.array(z.string()),
      }),
    ),
    services: z.array(z.object({ name: z.string(), image: z.string() })),
    ports: z.array(z.object({ ...publishedPort(), host: z.int().nullable() })),
    volumes: z.array(z.string()),
    dangers: z.array(z.object({ key: z.string(), message: z.string() })),
    notes: z.array(z.string()),
  }),
)

/** With the values of its variables; those of secrets are null. */
const editedTemplate = component('EditedTemplate', () =>
  template().extend({
    values: z.record(z.string(), z.string().nullable()),
  }),
)

export const connection = componentOf('Connection', () => ({
  connection: z.array(z.object({ label: z.string(), value: z.string().nullable() })),
}))

export const difference = componentOf('Difference', () => ({
  changes: z.array(
    z.object({
      field: z.string(),
      label: z.string(),
      from: z.string().nullable(),
      to: z.string().nullable(),
      secret: z.boolean(),
    }),
  ),
  remakes: z.boolean(),
  volumes: z.array(z.string()),
}))

export function serviceJson({ service: row, ports, containers, ...more }: ShownService) {
  const { errorStep: step, errorCode: code, errorMessage: message, errorHint: hint } = row
  return shown(service, {
    ...more,
    ...row, // with the stored status, also while its server is away
    version: row.version || null,
    containers: containers && containers.map((container) => containerJson(container, row)),
    ports: ports.map(({ port: host, ...port }) => portJson({ ...port, host })),
    error: code ? { step, code, message: message ?? '', hint } : null,
    deleting: row.deletingAt !== null,
  })
}

type ShownPort<Host> = Omit<WantedPort, 'host'> & { host: Host }

function portJson<Host>({ target, containerPort, protocol, host }: ShownPort<Host>) {
  const container = containerPort === ofImage ? null : containerPort
  return { service: target, container, protocol, host }
}

const containerJson = (container: ContainerSummary, service: Service) => ({
  ...containerFieldsJson(container, { service }),
  part: partOf(container),
})

export const partOf = ({ labels }: ContainerSummary) => labels[partLabel] ?? ''

export const entryJson = ({ template, about }: Omit<Entry, 'isLinkable'>) => ({
  template,
  ...about,
})

export function templateJson(template: string, file: Template, values?: Values) {
  const { about } = file
  const { services, ports, volumes, dangers, notes } = outlineOf(file, values)
  return {
    ...entryJson({ template, about }),
    version: about.version || null,
    variables: askedFor(file.variables).map(variableJson),
    services,
    ports: ports.map(portJson),
    volumes,
    dangers: dangers.map(({ key, message }) => ({ key, message })),
    notes,
  }
}

/** The template is public, so its defaults are shown, except those of secret variables. */
const variableJson = ({ hidden, generate, default: value, ...shown }: Variable) => ({
  ...shown,
  default: shown.secret ? null : value,
  generated: generate !== null,
})

export const operations: SliceOperations = () => ({
  Services: {
    'GET /services': does('Search the catalogue, and list your services', serviceList()),
    'POST /services': creates('Create a service from the named template', service()),
    'POST /services/deploy': creates(
      'Create a service from the named template; an alias',
      service(),
    ),
    'POST /services/compose': creates('Create a service from your own Compose file', service()),
    'POST /services/compose/configure': does('Check a Compose file; creates nothing', template()),
    'GET /services/:template/configure': does('Get a template with its variables', template()),
    'GET /services/:id': does('Get a service', service()),
    'POST /services/:template': creates(
      'Create a service; the id is a template’s name, and each of its variables is a field',
      service(),
    ),
    'PUT /services/:id': {
      summary: 'Change a service; with preview, only list the changes',
      answers: { 200: z.union([service(), difference()]), 202: service() },
    },
    'DELETE /services/:id': works('Delete a service and what it runs', removal()),
    'GET /services/:id/edit': does(
      'Get its template with its current values, without secrets',
      editedTemplate(),
    ),
    'GET /services/:id/secrets': does('Get how clients connect, with secrets', connection()),
    'POST /services/:id/restart': works('Restart a service, or start it', service()),
    'POST /services/:id/stop': works('Stop a service', service()),
    'POST /services/:id/cancel': works('Cancel what is under way', service()),
    'GET /services/:id/output': reads('Read or search what its containers wrote', output()),
    'GET /services/:id/output/stream': follows('Follow what its containers write', outputLine()),
    'GET /services/:id/logs': reads(
      'Read, search or follow the log of its last start, change, restart or stop',
      jobLog(),
      logLine(),
    ),
  },
})
