import { publishedOnce } from '../docker/index.ts'
import type { ContainerSummary } from '../docker/index.ts'
import { shownImage } from '../runtime/images/private-names.ts'
import type { Entry } from './catalogue.ts'
import { partLabel } from '../docker/labels.ts'
import { ofImage } from './compose/template.ts'
import type { Template } from './compose/template.ts'
import { askedFor } from './compose/values.ts'
import type { Variable } from './compose/variables.ts'
import type { Values } from './compose/values.ts'
import { outlineOf } from './outline.ts'
import type { WantedPort } from './ports.ts'
import type { ImagePull } from './progress.ts'
import type { ShownService } from './shown.ts'
import type { Service } from './store.ts'

export const serviceJson = ({ service, ports, url, domains, containers }: ShownService) => ({
  id: service.id,
  template: service.template,
  name: service.name,
  host: service.host,
  version: service.version || null,
  status: service.status,
  containers: containers && containers.map((container) => containerJson(container, service)),
  url,
  ports: ports.map(({ port: host, ...port }) => portJson({ ...port, host })),
  domains,
  error: service.errorCode
    ? {
        step: service.errorStep,
        code: service.errorCode,
        message: service.errorMessage ?? '',
        hint: service.errorHint,
      }
    : null,
  deleting: service.deletingAt !== null,
  createdAt: service.createdAt,
})

const portJson = ({ target, containerPort, protocol, host }: WantedPort) => ({
  service: target,
  container: containerPort === ofImage ? null : containerPort,
  protocol,
  host,
})

/** An entry as in `GET /containers/api`, with its service in the file. */
const containerJson = (container: ContainerSummary, { id }: Service) => ({
  id: container.id,
  name: container.name,
  image: shownImage(container.image),
  state: container.state,
  status: container.status,
  health: container.health,
  createdAt: container.createdAt,
  ports: publishedOnce(container.ports),
  project: null,
  environment: null,
  deployment: null,
  service: id,
  part: partOf(container),
})

export const partOf = ({ labels }: ContainerSummary) => labels[partLabel] ?? ''

export const entryJson = ({ template, about: { logo, ...about } }: Omit<Entry, 'isLinkable'>) => ({
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

export const eventJson = (service: Service, pull: ImagePull[]) => ({
  status: service.status,
  error: service.errorMessage,
  pull,
})
